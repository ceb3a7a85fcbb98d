"""Links by which somebody says no: one for each person and organiser, good for as long as SECRET_KEY is the same.

Person and organiser are sealed inside, so that the address is legible to nobody and no row is kept for a link.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app

from app.core.encrypted_tokens import decrypt_token, encrypt_token
from app.core.ids import is_id

PURPOSE = "unsubscribe"
ONE_CLICK_BODY = "List-Unsubscribe=One-Click"
"""What a mail program posts to the link (RFC 8058)."""
_ID_BYTES = 12


@dataclass(frozen=True)
class UnsubscribeTarget:
    """Whom a link is for, and whose messages it ends: those of one organiser (an account's id), or all (None)."""

    address: str
    organiser_id: str | None


@dataclass(frozen=True)
class UnsubscribeLinks:
    """The page, and the headers by which mail programs offer the same with one click."""

    url: str
    headers: Mapping[str, str]


def build_unsubscribe_links(address: str, organiser_id: str | None) -> UnsubscribeLinks:
    """The links for a person, by the lower-case e-mail address, and an organiser. Nothing is read or written."""
    url = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/unsubscribe/{encode_unsubscribe_token(UnsubscribeTarget(address, organiser_id))}"
    return UnsubscribeLinks(url, {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": ONE_CLICK_BODY})


def encode_unsubscribe_token(target: UnsubscribeTarget) -> str:
    organiser_bytes = bytes.fromhex(target.organiser_id) if target.organiser_id else bytes(_ID_BYTES)
    return encrypt_token(PURPOSE, organiser_bytes + target.address.encode())


def decode_unsubscribe_token(token: str) -> UnsubscribeTarget | None:
    """Whom and what the token is about; None when it is none of ours."""
    payload = decrypt_token(PURPOSE, token)
    if payload is None:
        return None
    organiser_id = payload[:_ID_BYTES].hex()
    return UnsubscribeTarget(
        payload[_ID_BYTES:].decode(), organiser_id if is_id(organiser_id) and int(organiser_id, 16) else None
    )
