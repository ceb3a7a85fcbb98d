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
LONGEST = 128
FIELD = "password"


class ConfirmedBody(Schema):
    """The body of an operation that may have to be confirmed; its view is given the `password`, or None."""

    password = Secret(
        max=LONGEST,
        metadata={
            "rare": True,
            "format": "password",
            "description": f"your password, where the operation asks for it; the same as the header {HEADER}",
        },
    )


def confirmed(view: View) -> View:
    """The view, given as `password` what the body or the header holds, or None."""

    @wraps(view)
    def with_header(**arguments: Any) -> Any:
        password = arguments.pop(FIELD, None)
        return view(**arguments, **{FIELD: password if password is not None else _in_header()})

    return with_header


def _in_header() -> str | None:
    """The header's text: WSGI hands bytes on as Latin-1, clients send UTF-8."""
    given = request.headers.get(HEADER)
    if given is None:
        return None
    try:
        return given.encode("latin-1").decode()[: LONGEST + 1]
    except UnicodeError:
        return given[: LONGEST + 1]
