"""Links to the operations page: the moment at which one ends, sealed, so that nothing is kept of it."""

import time

from flask import current_app

from app.core.errors import Gone, NotFound
from app.core.sealing import opened, sealed

PURPOSE, LIVES = "ops-page", 600
_BYTES = 8


def link() -> str:
    """The address of the page, good for ten minutes."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/ops/{token_until(int(time.time()) + LIVES)}"


def token_until(moment: int) -> str:
    """What the address ends with; `moment` is in seconds since 1970."""
    return sealed(PURPOSE, moment.to_bytes(_BYTES, "big"))


def ends_at(token: str) -> int:
    """When a living link ends. Raises NotFound for one that was never given out, Gone for one that has ended."""
    fact = opened(PURPOSE, token)
    if fact is None:
        raise NotFound()
    moment = int.from_bytes(fact, "big")
    if moment <= time.time():
        raise Gone("This link was good for ten minutes; the command flask ops link prints a fresh one.")
    return moment
