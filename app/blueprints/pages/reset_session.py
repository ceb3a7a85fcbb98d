"""The state of a password reset in the session: the email, the number of wrong codes, and whether it is finished.

It expires after 15 minutes, so that a shared computer does not show the email for long.
"""

import time
from typing import TypedDict

from flask import session

from app.accounts.errors import CodeInvalid

KEY = "reset"
MAX_AGE_SECONDS = 15 * 60
MAX_WRONG_CODES = 5
WRONG_CODE_MESSAGE = "This code is wrong. Enter the six digits from the newest e-mail. Older codes no longer work."


class ResetSession(TypedDict, total=False):
    """The values under KEY; `at` is the start in epoch seconds, `wrong` the number of wrong codes."""

    email: str
    at: int
    wrong: int
    done: bool


def get_email() -> str | None:
    """The email that the visitor entered."""
    return _read_session().get("email")


def has_no_attempts_left() -> bool:
    """Whether the visitor entered MAX_WRONG_CODES wrong codes."""
    return _read_session().get("wrong", 0) >= MAX_WRONG_CODES


def is_finished() -> bool:
    """Whether the visitor has set the new password."""
    return _read_session().get("done", False)


def remember_email(email: str) -> None:
    """Store the email. The same email keeps its number of wrong codes."""
    if get_email() != email:
        start_attempts(email)


def start_attempts(email: str) -> None:
    """Restart the time and the number of wrong codes, because a new code was sent."""
    session[KEY] = {"email": email, "at": int(time.time()), "wrong": 0}


def count_wrong_code() -> CodeInvalid:
    """Count a wrong code and return the error for the form."""
    reset_session = _read_session()
    session[KEY] = {**reset_session, "wrong": reset_session.get("wrong", 0) + 1}
    return CodeInvalid(WRONG_CODE_MESSAGE)


def finish() -> None:
    """Remove the email. Only `done` stays, for the last page."""
    session[KEY] = {"done": True, "at": int(time.time())}


def _read_session() -> ResetSession:
    reset_session: ResetSession = session.get(KEY, {})
    return reset_session if reset_session.get("at", 0) > time.time() - MAX_AGE_SECONDS else {}
