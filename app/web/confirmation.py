"""The password that confirms an operation: `password` in the body, or the header `X-Confirm-Password`.

It says who asks, not what is asked for: it is no part of what an idempotency key stands for.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import request

from app.web.fields import Secret
from app.web.schema import Schema

View = Callable[..., Any]
HEADER = "X-Confirm-Password"
MAX_PASSWORD_LENGTH = 128
FIELD = "password"


class ConfirmedBody(Schema):
    """The body of an operation that may have to be confirmed; its view is given the `password`, or None."""

    password = Secret(
        max=MAX_PASSWORD_LENGTH,
        metadata={
            "rare": True,
            "format": "password",
            "description": f"your password, where the operation asks for it; the same as the header {HEADER}",
        },
    )


def with_password_confirmation(view: View) -> View:
    """The view, given as `password` what the body or the header holds, or None."""

    @wraps(view)
    def wrapper(**arguments: Any) -> Any:
        password = arguments.pop(FIELD, None)
        return view(**arguments, **{FIELD: password if password is not None else _parse_header()})

    return wrapper


def _parse_header() -> str | None:
    """The header's text: WSGI hands bytes on as Latin-1, clients send UTF-8."""
    header = request.headers.get(HEADER)
    if header is None:
        return None
    try:
        return header.encode("latin-1").decode()[: MAX_PASSWORD_LENGTH + 1]
    except UnicodeError:
        return header[: MAX_PASSWORD_LENGTH + 1]
