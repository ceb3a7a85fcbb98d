"""`Idempotency-Key`: the same request again gets the first answer again, and nothing happens twice.

The view's transactions join the one opened here, so the answer commits with the work. A view that talks to the
network between two transactions cannot be declared idempotent this way: the client it calls would refuse.
"""

from collections.abc import Callable, Collection
from functools import wraps
from hashlib import sha256
from typing import Any

import orjson
from flask import Response, g, request
from werkzeug.datastructures import FileStorage

from app.core import replays
from app.core.errors import AppError, ValidationFailed
from app.core.replays import Answer, OtherBody, Place, StillRunning
from app.core.transaction import held_commit
from app.web.envelope import spliced_response
from app.web.refusals import IdempotencyInProgress, IdempotencyKeyReused, IdempotencyKeysDiffer

View = Callable[..., Any]
HEADER = "Idempotency-Key"


def idempotent(view: View, operation: str, *, forever: bool, unasked: Collection[str] = ()) -> View:
    """The view, answering a repeated key with the first answer; members of the body that are `unasked` may differ."""

    @wraps(view)
    def once(**arguments: Any) -> Any:
        key = g.idempotency_key = _key(arguments.pop("idempotency_key", None))
        if key is None:
            return view(**arguments)
        caller = g.get("caller")
        place = Place(caller.id if caller else "anonymous", operation, key, _asked(unasked), forever)
        return _answered(lambda: view(**arguments), place)

    return once


def current_key() -> str | None:
    """The key of the running request, for actions that keep it with what they make."""
    key: str | None = g.get("idempotency_key")
    return key


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
            refused = error
        if refused is not None or response.status_code >= 400:
            # What the action committed before it refused stays (a wrong code counts); the key is free again.
            replays.forget(session, place)
        else:
            replays.keep(session, place, Answer(response.status_code, response.content_type, _body(response)))
    if refused is not None:
        raise refused
    return response


def _key(in_body: str | None) -> str | None:
    in_header = request.headers.get(HEADER)
    if in_header is not None and not (8 <= len(in_header) <= 80 and in_header.isascii() and in_header.isprintable()):
        raise ValidationFailed.of(HEADER, "wrong_length", "Must have 8 to 80 printable ASCII characters.")
    if in_body is not None and not in_body.isprintable():
        raise ValidationFailed.of("idempotencyKey", "invalid_characters", "Must be printable.")
    if in_header is not None and in_body is not None and in_header != in_body:
        raise IdempotencyKeysDiffer()
    return in_header if in_header is not None else in_body


def _asked(unasked: Collection[str]) -> bytes:
    """What was asked for, in few bytes: the same for the same JSON in other order, and the same files."""
    parts = [request.full_path.encode()]
    if request.mimetype == "multipart/form-data":
        parts += [f"{name}={value}".encode() for name, value in sorted(request.form.items(multi=True))]
        parts += [_told(name, file) for name, file in sorted(request.files.items(multi=True), key=lambda it: it[0])]
    else:
        parts.append(_canonical(request.get_data(cache=True), unasked))
    return sha256(b"\n".join(sha256(part).digest() for part in parts)).digest()


def _canonical(raw: bytes, unasked: Collection[str]) -> bytes:
    if not raw.strip():
        return b"null"
    try:
        body = orjson.loads(raw)
    except ValueError:
        return raw
    if isinstance(body, dict):
        for name in ("idempotencyKey", *unasked):
            body.pop(name, None)
    return orjson.dumps(body or None, option=orjson.OPT_SORT_KEYS)


def _told(name: str, file: FileStorage) -> bytes:
    content = sha256(file.stream.read()).hexdigest()
    file.stream.seek(0)
    return f"{name}={file.filename}:{content}".encode()


def _body(response: Response) -> bytes:
    return orjson.dumps(response.get_json()["data"]) if response.is_json else response.get_data()


def _replayed(earlier: Answer) -> Response:
    if earlier.content_type.startswith("application/json"):
        response = spliced_response(earlier.body, earlier.status)
    else:
        response = Response(earlier.body, earlier.status, content_type=earlier.content_type)
    response.headers["Idempotent-Replayed"] = "true"
    return response
