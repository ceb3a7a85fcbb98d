"""Object ids: 24 lower-case hex digits, roughly ordered by creation."""

import re
import secrets
import time

_OBJECT_ID = re.compile(r"[0-9a-f]{24}")


def new_id() -> str:
    """A fresh object id: four bytes of seconds, eight random bytes. It is a name, never a secret."""
    return (int(time.time()).to_bytes(4, "big") + secrets.token_bytes(8)).hex()


def is_id(text: object) -> bool:
    """Whether `text` has the form of an object id."""
    return isinstance(text, str) and _OBJECT_ID.fullmatch(text) is not None
