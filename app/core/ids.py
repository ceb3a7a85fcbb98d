"""Object ids: 24 lower-case hex digits, roughly ordered by creation."""

import re
import secrets
import time

NEW_ID_SQL = (
    "lpad(to_hex(extract(epoch FROM now())::bigint), 8, '0') || left(replace(gen_random_uuid()::text, '-', ''), 16)"
)
"""SQL expression for a new object id, for statements that insert many rows."""
_OBJECT_ID = re.compile(r"[0-9a-f]{24}")


def new_id() -> str:
    """Return a new object id: four bytes of seconds and eight random bytes, in hex. It is not a secret."""
    return (int(time.time()).to_bytes(4, "big") + secrets.token_bytes(8)).hex()


def is_id(text: object) -> bool:
    """Whether `text` has the form of an object id."""
    return isinstance(text, str) and _OBJECT_ID.fullmatch(text) is not None
