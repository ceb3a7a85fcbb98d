"""The password that confirms an operation: `password` in the body, or the header `X-Confirm-Password`.

It identifies the caller and is not a part of the request that an idempotency key identifies.
"""

from functools import wraps

from flask import request

from app.web.fields import Secret
from app.web.schema import Schema
from app.web.types import View

HEADER = "X-Confirm-Password"
MAX_PASSWORD_LENGTH = 128
FIELD = "password"


class ConfirmedBody(Schema):
    """The body of an operation that may need a confirmation. Its view gets `password`, or None."""

    password = Secret(
        max=MAX_PASSWORD_LENGTH,
        metadata={
            "rare": True,
            "format": "password",
            "description": f"your password, if the operation requires it; an alternative to the header {HEADER}",
        },
    )


def with_password_confirmation(view: View) -> View:
    """Return a view that passes the password of the body or the header to `view` as `password`, or None."""

    @wraps(view)
    def wrapper(**arguments: object) -> object:
        password = arguments.pop(FIELD, None)
        return view(**arguments, **{FIELD: password if password is not None else _parse_header()})

    return wrapper


def _parse_header() -> str | None:
    """Return the header as text. WSGI decodes it as Latin-1, but clients send UTF-8."""
    header = request.headers.get(HEADER)
    if header is None:
        return None
    try:
        return header.encode("latin-1").decode()[: MAX_PASSWORD_LENGTH + 1]
    except UnicodeError:
        return header[: MAX_PASSWORD_LENGTH + 1]
