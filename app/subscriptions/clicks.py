"""Links that count who follows them: `/r/{token}` names who was written to and which link, signed; never where to.

The destination is looked up by whoever sent the message, so the link can lead nowhere else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app

from app.core.tokens import derived_text, same

PURPOSE = "click"
_TOKEN = re.compile(r"([0-9a-z]{1,32})\.([0-9]{1,2})\.([A-Za-z0-9_-]{16})")
_PREFETCH = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_MACHINES = re.compile(
    r"(?i)bot\b|bot/|crawl|spider|slurp|scan|preview|prefetch|monitor|validator|check|fetch|headless"
    r"|facebookexternalhit|whatsapp|skypeuri|barracuda|mimecast|proofpoint|trendmicro|symantec|fortigate|ironport"
    r"|googleimageproxy|yahoomailproxy|curl|wget|python|java/|okhttp|go-http|axios|libwww|powershell|urlgrabber"
)


@dataclass(frozen=True)
class Click:
    """Which link of whose message: the id of the row that one was sent from, and the link's number in it."""

    recipient_id: str
    number: int


def click_url(recipient_id: str | int, number: int = 0) -> str:
    """The address that counts a click and then leads on. `recipient_id`: 1 to 32 of `0-9a-z`; `number`: 0 to 99."""
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/r/{sign(Click(str(recipient_id), number))}"


def sign(click: Click) -> str:
    """The token of a link. Raises ValueError for an id or a number that no token can carry."""
    token = f"{click.recipient_id}.{click.number}.{_mac(click)}"
    if not _TOKEN.fullmatch(token):
        raise ValueError(f"no token can name {click}")
    return token


def read(token: str) -> Click | None:
    """What a token names; None when we have not signed it."""
    found = _TOKEN.fullmatch(token)
    if found is None or not token.isascii():
        return None
    click = Click(found[1], int(found[2]))
    return click if same(sign(click), token) else None


def by_a_person(method: str, headers: Mapping[str, str]) -> bool:
    """Whether somebody seems to have followed the link, and no program that looks where it leads.

    A guess, for counting alone: whoever asks is led on either way. `headers` finds names as a request's do.
    """
    if method != "GET" or any(headers.get(name) for name in _PREFETCH):
        return False
    agent = headers.get("User-Agent", "")
    return agent.startswith("Mozilla/") and not _MACHINES.search(agent)


def _mac(click: Click) -> str:
    """96 bits: enough against guessing over a network, and short enough for a text message."""
    return derived_text(PURPOSE, click.recipient_id, click.number)[:16]
