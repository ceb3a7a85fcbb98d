"""`Idempotency-Key`: a repeated request gets the stored first response and has no second effect.

The transactions of the view join the one opened here, so the response commits together with the work. A view that
uses the network between two transactions cannot be declared idempotent: HTTP clients refuse calls in a transaction.
"""

import re
from collections.abc import Callable, Collection
from functools import wraps
from hashlib import sha256
from typing import cast

import orjson
from flask import Response, g, request
from werkzeug.datastructures import FileStorage

from app.accounts.caller import Caller
from app.core import idempotency_store
from app.core.errors import AppError, ValidationFailed
from app.core.idempotency_store import IdempotencyScope, OtherBody, OtherGrant, StillRunning, StoredResponse
from app.core.transaction import request_transaction
from app.web.access import TEAM_ENVIRON
from app.web.envelope import envelope_response
from app.web.errors import IdempotencyGrantChanged, IdempotencyInProgress, IdempotencyKeyReused, IdempotencyKeysDiffer
from app.web.types import View

HEADER = "Idempotency-Key"
FORM_KEY = "formKey"
_FORM_KEY_PATTERN = re.compile(r"[A-Za-z0-9_-]{16,80}")


def with_idempotency(view: View, operation: str, *, forever: bool, ignored_fields: Collection[str] = ()) -> View:
    """Return a view that replays the first response for a repeated key. `ignored_fields` of the body may differ."""

    @wraps(view)
    def wrapper(*, idempotency_key: str | None = None, **arguments: object) -> object:
        key = g.idempotency_key = _parse_key(idempotency_key)
        if key is None:
            return view(**arguments)
        caller: Caller | None = g.get("caller")
        scope = IdempotencyScope(
            caller.client_id if caller else "anonymous",
            operation,
            key,
            _hash_request(ignored_fields),
            forever,
            # Who has lost a role or an event does not get again what they got with it.
            repr(caller.grant) if caller and caller.memberships else "",
        )
        return _run_once(lambda: cast(Response, view(**arguments)), scope)

    return wrapper


def run_form_once(account_id: str, act: Callable[[], str]) -> str:
    """Do what the form of a page says, and return its result. If the form is sent again, only the result is returned.

    The field `formKey` tells forms apart. Raises IdempotencyInProgress, IdempotencyKeyReused for other values.
    """
    key = request.form.get(FORM_KEY, "")
    if not _FORM_KEY_PATTERN.fullmatch(key):
        return act()
    values = sorted((name, value) for name, value in request.form.items(multi=True) if name != "csrf_token")
    files = [_describe_file(name, file) for name, file in request.files.items(multi=True)]
    body = sha256(repr((request.full_path, values, files)).encode()).digest()
    scope = IdempotencyScope(account_id, f"form {request.endpoint}", key, body, keep_forever=False)
    return _run_once(lambda: Response(act(), content_type="text/plain"), scope).get_data(as_text=True)


def find_idempotency_key() -> str | None:
    """Return the key of the current request, for actions that store it with their rows."""
    key: str | None = g.get("idempotency_key")
    return key


def _run_once(view: Callable[[], Response], scope: IdempotencyScope) -> Response:
    app_error: AppError | None = None
    response: Response | None = None
    with request_transaction() as session:
        try:
            stored_response = idempotency_store.lock_key(session, scope)
        except StillRunning as error:
            raise IdempotencyInProgress(retry_after=1) from error
        except OtherBody as error:
            raise IdempotencyKeyReused() from error
        except OtherGrant as error:
            raise IdempotencyGrantChanged() from error
        if stored_response is not None:
            return _replay_response(stored_response)
        try:
            response = view()
        except AppError as error:
            app_error = error
        if response is None or response.status_code >= 400:
            # The effects of a refusal stay (a wrong code counts), and the key can be used again.
            idempotency_store.release_key(session, scope)
        else:
            stored_response = StoredResponse(response.status_code, response.content_type, _extract_body(response))
            idempotency_store.store_response(scope, stored_response)
    if app_error is not None:
        raise app_error
    assert response is not None
    return response


def _parse_key(body_key: str | None) -> str | None:
    header_key = request.headers.get(HEADER)
    if header_key is not None and not (
        8 <= len(header_key) <= 80 and header_key.isascii() and header_key.isprintable()
    ):
        raise ValidationFailed.of(HEADER, "wrong_length", "Must have 8 to 80 printable ASCII characters.")
    if body_key is not None and not body_key.isprintable():
        raise ValidationFailed.of("idempotencyKey", "invalid_characters", "Must be printable.")
    if header_key is not None and body_key is not None and header_key != body_key:
        raise IdempotencyKeysDiffer()
    return header_key if header_key is not None else body_key


def _hash_request(ignored_fields: Collection[str]) -> bytes:
    """Return a hash of the request. The order of JSON members does not change it; files count by their content."""
    parts = [request.full_path.encode()]
    if team_id := request.environ.get(TEAM_ENVIRON):
        parts.append(team_id.encode())
    if request.mimetype == "multipart/form-data":
        parts += [f"{name}={value}".encode() for name, value in sorted(request.form.items(multi=True))]
        parts += [
            _describe_file(name, file)
            for name, file in sorted(request.files.items(multi=True), key=lambda named_file: named_file[0])
        ]
    else:
        parts.append(_normalize_json(request.get_data(cache=True), ignored_fields))
    return sha256(b"\n".join(sha256(part).digest() for part in parts)).digest()


def _normalize_json(raw: bytes, ignored_fields: Collection[str]) -> bytes:
    if not raw.strip():
        return b"null"
    try:
        body = orjson.loads(raw)
    except ValueError:
        return raw
    if isinstance(body, dict):
        for name in ("idempotencyKey", *ignored_fields):
            body.pop(name, None)
    return orjson.dumps(body or None, option=orjson.OPT_SORT_KEYS)


def _describe_file(name: str, file: FileStorage) -> bytes:
    file.stream.seek(0)
    digest = sha256(file.stream.read()).hexdigest()
    file.stream.seek(0)
    return f"{name}={file.filename}:{digest}".encode()


def _extract_body(response: Response) -> bytes:
    return orjson.dumps(response.get_json()["data"]) if response.is_json else response.get_data()


def _replay_response(stored_response: StoredResponse) -> Response:
    if stored_response.content_type.startswith("application/json"):
        response = envelope_response(stored_response.body, stored_response.status)
    else:
        response = Response(stored_response.body, stored_response.status, content_type=stored_response.content_type)
    response.headers["Idempotent-Replayed"] = "true"
    return response
