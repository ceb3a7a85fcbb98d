"""Unsubscribe links: one for each person and organiser, valid until SECRET_KEY changes.

The token contains address and organiser encrypted, so the address cannot be read and a link needs no row.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app

from app.core.ids import is_id
from app.core.tokens import decrypt_token, encrypt_token

PURPOSE = "unsubscribe"
ONE_CLICK_BODY = "List-Unsubscribe=One-Click"
"""The body that mail programs post to the link (RFC 8058)."""
_ID_BYTES = 12


@dataclass(frozen=True)
class UnsubscribeTarget:
    """The address of a link, and the organiser (an account's id) whose messages it ends; None for all organisers."""

    address: str
    organiser_id: str | None


@dataclass(frozen=True)
class UnsubscribeLinks:
    """The address of the page, and the mail headers that let mail programs unsubscribe with one click."""

    url: str
    headers: Mapping[str, str]


def build_unsubscribe_links(address: str, organiser_id: str | None) -> UnsubscribeLinks:
    """The links of a lower-case e-mail address and an organiser. Does not use the database."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    url = f"{base_url}/unsubscribe/{encode_unsubscribe_token(UnsubscribeTarget(address, organiser_id))}"
    return UnsubscribeLinks(url, {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": ONE_CLICK_BODY})


def encode_unsubscribe_token(target: UnsubscribeTarget) -> str:
    organiser_bytes = bytes.fromhex(target.organiser_id) if target.organiser_id else bytes(_ID_BYTES)
    return encrypt_token(PURPOSE, organiser_bytes + target.address.encode())


def decode_unsubscribe_token(token: str) -> UnsubscribeTarget | None:
    """The address and organiser of a token; None when the token is invalid."""
    payload = decrypt_token(PURPOSE, token)
    if payload is None:
        return None
    organiser_id = payload[:_ID_BYTES].hex()
    return UnsubscribeTarget(
        payload[_ID_BYTES:].decode(), organiser_id if is_id(organiser_id) and int(organiser_id, 16) else None
    )
