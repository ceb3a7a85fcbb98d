"""Object ids: 24 lower-case hex digits, roughly ordered by creation."""

import re
import secrets
import time

NEW_ID_SQL = (
    "lpad(to_hex(extract(epoch FROM now())::bigint), 8, '0') || left(replace(gen_random_uuid()::text, '-', ''), 16)"
)
"""What gives a fresh object id inside a statement, where one is needed for each row."""
_OBJECT_ID = re.compile(r"[0-9a-f]{24}")


def new_id() -> str:
    """A fresh object id: four bytes of seconds, eight random bytes. It is a name, never a secret."""
    return (int(time.time()).to_bytes(4, "big") + secrets.token_bytes(8)).hex()


def is_id(text: object) -> bool:
    """Whether `text` has the form of an object id."""
    return isinstance(text, str) and _OBJECT_ID.fullmatch(text) is not None
