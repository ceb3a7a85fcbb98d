"""What the session remembers between the pages of a reset: the address, how many codes were wrong, and the end.

It is forgotten when a code has expired, so that a shared computer does not show the address for long.
"""

import time
from typing import Any

from flask import session

from app.accounts.errors import CodeInvalid

KEY = "reset"
SECONDS = 15 * 60
TRIES = 5
WRONG = "This is not the code. Take the six digits from the newest mail we sent you; older codes no longer count."


def address() -> str | None:
    """The address that the visitor gave."""
    value: str | None = _visit().get("email")
    return value


def spent() -> bool:
    """Whether the code was tried as often as it may be."""
    return int(_visit().get("wrong", 0)) >= TRIES


def finished() -> bool:
    return bool(_visit().get("done"))


def about(email: str) -> None:
    """Remembers the address; one that is known already keeps its count."""
    if address() != email:
        code_sent(email)


def code_sent(email: str) -> None:
    """A new code is on its way: the time and the count start again."""
    session[KEY] = {"email": email, "at": int(time.time()), "wrong": 0}


def wrong_code() -> CodeInvalid:
    """Counts a wrong code; the error that says what to do now."""
    visit = _visit()
    session[KEY] = {**visit, "wrong": int(visit.get("wrong", 0)) + 1}
    return CodeInvalid(WRONG)


def finish() -> None:
    """Forgets the address; only that it went well is kept, for the last page."""
    session[KEY] = {"done": True, "at": int(time.time())}


def _visit() -> dict[str, Any]:
    values: dict[str, Any] = session.get(KEY, {})
    return values if values.get("at", 0) > time.time() - SECONDS else {}
