"""Where a sign-in comes from, so that its owner recognises it later: the device in words, and a truncated network.

The device is read from the User-Agent, which anybody may invent. It is shown to the account's owner and decides nothing.
"""

import re

from flask import request

from app.accounts.sessions import SessionKind, SessionOrigin
from app.core.addresses import truncate_address

MAX_DEVICE_LENGTH = 80
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)
"""Parts of a User-Agent and what people call them. The first match counts, because browsers also name older ones."""
_PRODUCT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*(?:/[A-Za-z0-9._-]+)?")


def get_session_origin(kind: SessionKind = "api") -> SessionOrigin:
    """Return the origin of a session that this request starts."""
    return SessionOrigin(
        kind, describe_device(request.headers.get("User-Agent", "")), truncate_address(request.remote_addr)
    )


def describe_device(user_agent: str) -> str | None:
    """Return a browser and its system, "Firefox on Android", or the name of an app; None when nothing is known."""
    names = [next((name for part, name in choices if part in user_agent), None) for choices in (BROWSERS, SYSTEMS)]
    if any(names):
        return " on ".join(name for name in names if name)
    product = _PRODUCT.match(user_agent)
    return product[0].strip()[:MAX_DEVICE_LENGTH] if product else None
