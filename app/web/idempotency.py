"""`Idempotency-Key`: the same request again gets the first answer again, and nothing happens twice.

The view's transaction joins the one opened here, so the answer commits with the work. A view that talks to the
network between two transactions cannot be declared idempotent this way: the client it calls would refuse.
"""

from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any

import orjson
from flask import Response, g, request

from app.core import replays
from app.core.errors import AppError, ValidationFailed
from app.core.replays import IdempotencyKey, OtherBody, Place, StillRunning
from app.core.transaction import held_commit
from app.web.envelope import spliced_response
from app.web.refusals import IdempotencyInProgress, IdempotencyKeyReused, IdempotencyKeysDiffer

View = Callable[..., Any]
HEADER = "Idempotency-Key"


def idempotent(view: View, operation: str, *, forever: bool) -> View:
    """The view, answering a repeated key with the first answer."""

    @wraps(view)
    def once(**arguments: Any) -> Any:
        key = _key(arguments.pop("idempotency_key", None))
        if key is None:
            return view(**arguments)
        caller = g.get("caller")
        place = Place(caller.id if caller else "anonymous", operation, key, _fingerprint(), forever)
        return _answered(lambda: view(**arguments), place)

    return once


def _answered(view: Callable[[], Any], place: Place) -> Any:
    refused: AppError | None = None
    response: Any = None
    with held_commit() as session:
        try:
            earlier = replays.claim(session, place)
        except StillRunning as error:
            raise IdempotencyInProgress(retry_after=1) from error
        except OtherBody as error:
            raise IdempotencyKeyReused() from error
        if earlier is not None:
            return _replayed(earlier)
        try:
            response = view()
        except AppError as error:
            if session.info.get("failed"):
                raise
            refused = error
        if refused is not None or response.status_code >= 400:
            replays.forget(session, place)
        else:
            replays.keep(
                session,
                place,
                status=response.status_code,
                content_type=response.content_type,
                body=_body(response),
            )
    if refused is not None:
        raise refused
    return response


def _key(in_body: str | None) -> str | None:
    in_header = request.headers.get(HEADER)
    if in_header is not None and not (8 <= len(in_header) <= 80 and in_header.isascii() and in_header.isprintable()):
        raise ValidationFailed.of(HEADER, "wrong_length", "Must have 8 to 80 printable ASCII characters.")
    if in_header is not None and in_body is not None and in_header != in_body:
        raise IdempotencyKeysDiffer()
    return in_header if in_header is not None else in_body


def _fingerprint() -> str:
    body = request.get_json(silent=True) if request.is_json else None
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name != "idempotencyKey"}
    sayable = orjson.dumps(body, option=orjson.OPT_SORT_KEYS) if body is not None else request.get_data(cache=True)
    return sha256(b"\n".join([request.full_path.encode(), sayable])).hexdigest()


def _body(response: Response) -> bytes:
    return orjson.dumps(response.get_json()["data"]) if response.is_json else response.get_data()


def _replayed(earlier: IdempotencyKey) -> Response:
    body, kind = earlier.body or b"{}", earlier.content_type or "application/json"
    if kind.startswith("application/json"):
        response = spliced_response(body, earlier.status or 200)
    else:
        response = Response(body, earlier.status or 200, content_type=kind)
    response.headers["Idempotent-Replayed"] = "true"
    return response
