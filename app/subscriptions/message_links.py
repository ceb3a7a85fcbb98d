"""Links in messages: unsubscribe links and tracked links.

There is one unsubscribe link for each person and organiser, valid until SECRET_KEY changes. Its token contains address and
organiser encrypted, so the address cannot be read and the link needs no row.

A tracked link is `/r/{token}`; its signed token names the recipient and the number of the link. It does not contain the
destination, which is read from the campaign; so the link cannot lead elsewhere.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app

from app.core.ids import is_id
from app.core.tokens import decrypt_token, derived_text, encrypt_token, same

UNSUBSCRIBE_PURPOSE = "unsubscribe"
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
    return encrypt_token(UNSUBSCRIBE_PURPOSE, organiser_bytes + target.address.encode())


def decode_unsubscribe_token(token: str) -> UnsubscribeTarget | None:
    """The address and organiser of a token; None when the token is invalid."""
    payload = decrypt_token(UNSUBSCRIBE_PURPOSE, token)
    if payload is None:
        return None
    organiser_id = payload[:_ID_BYTES].hex()
    return UnsubscribeTarget(
        payload[_ID_BYTES:].decode(), organiser_id if is_id(organiser_id) and int(organiser_id, 16) else None
    )


CLICK_PURPOSE = "click"
_TOKEN_PATTERN = re.compile(r"([0-9a-z]{1,32})\.([0-9]{1,2})\.([A-Za-z0-9_-]{16})")
_PREFETCH_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_BOT_USER_AGENTS = re.compile(
    r"(?i)bot\b|bot/|crawl|spider|slurp|scan|preview|prefetch|monitor|validator|check|fetch|headless"
    r"|facebookexternalhit|whatsapp|skypeuri|barracuda|mimecast|proofpoint|trendmicro|symantec|fortigate|ironport"
    r"|googleimageproxy|yahoomailproxy|curl|wget|python|java/|okhttp|go-http|axios|libwww|powershell|urlgrabber"
)


@dataclass(frozen=True)
class TrackedLink:
    """A link of a sent message: the id of the recipient's row, and the number of the link in the message."""

    recipient_id: str
    number: int


def build_click_url(recipient_id: str | int, number: int = 0) -> str:
    """The address that counts a click and redirects. `recipient_id` is 1 to 32 of `0-9a-z`, `number` is 0 to 99."""
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/r/{encode_click_token(TrackedLink(str(recipient_id), number))}"


def encode_click_token(link: TrackedLink) -> str:
    """The signed token of a link. Raises ValueError for an invalid id or number."""
    token = f"{link.recipient_id}.{link.number}.{_sign_link(link)}"
    if not _TOKEN_PATTERN.fullmatch(token):
        raise ValueError(f"no token can name {link}")
    return token


def decode_click_token(token: str) -> TrackedLink | None:
    """The link of a token; None when the signature is invalid."""
    match = _TOKEN_PATTERN.fullmatch(token)
    if match is None or not token.isascii():
        return None
    link = TrackedLink(match[1], int(match[2]))
    return link if same(encode_click_token(link), token) else None


def is_human_click(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a person probably followed the link, and not a crawler or a mail scanner.

    It is an estimate and is used only for counting; every client is redirected. `headers` ignores case.
    """
    if method != "GET" or any(headers.get(name) for name in _PREFETCH_HEADERS):
        return False
    user_agent = headers.get("User-Agent", "")
    return user_agent.startswith("Mozilla/") and not _BOT_USER_AGENTS.search(user_agent)


def _sign_link(link: TrackedLink) -> str:
    """The signature of 96 bits: safe against guessing over a network, and short enough for a text message."""
    return derived_text(CLICK_PURPOSE, link.recipient_id, link.number)[:16]
