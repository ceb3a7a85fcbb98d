"""How many wrong codes a visitor has entered since the last code was sent. After five the page offers a new one.

The service counts for itself; the session only decides what the page says.
"""

from flask import session

MAX_WRONG_CODES = 5


def count_wrong_code(key: str) -> None:
    """Count a wrong code under this key of the session."""
    session[key] = session.get(key, 0) + 1


def has_no_attempts_left(key: str) -> bool:
    """Whether the code that was sent no longer works, because five wrong ones were entered."""
    return bool(session.get(key, 0) >= MAX_WRONG_CODES)


def start_attempts(key: str) -> None:
    """Count from zero, because a new code was sent or the right one was entered."""
    session.pop(key, None)
