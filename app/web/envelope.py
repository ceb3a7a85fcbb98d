"""The envelope of every JSON response: eight keys, always in this order."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson
from flask import Response, has_request_context, request
from flask.json.provider import JSONProvider

from app.core.clock import rfc3339, utcnow
from app.core.errors import AppError
from app.web.schema import to_camel_case
from app.web.types import JsonObject

REQUEST_ID_KEY = "event_commerce.request_id"
ORJSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME


def build_envelope(data: object) -> JsonObject:
    """Return the success envelope of `data`; None becomes `{}`."""
    return {
        "status": "success",
        "success": True,
        "statusCode": "00000",
        "message": "OK",
        "shortMessage": "SUCCESS",
        "timestamp": rfc3339(utcnow()),
        "requestId": get_request_id(),
        "data": {} if data is None else data,
    }


def wrap_json(data: bytes, request_id: str) -> bytes:
    """Return the success envelope of data that is already JSON."""
    return (
        b'{"status":"success","success":true,"statusCode":"00000","message":"OK","shortMessage":"SUCCESS",'
        b'"timestamp":"%s","requestId":"%s","data":%s}' % (rfc3339(utcnow()).encode(), request_id.encode(), data)
    )


def envelope_response(data: bytes, status: int = 200, **headers: str) -> Response:
    """Return the success response of data that is already JSON."""
    response = Response(wrap_json(data, get_request_id()), status, mimetype="application/json")
    response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return response


def build_error_envelope(error: AppError) -> JsonObject:
    """Return the error envelope: code and number of the catalogue, the message, and the details as data."""
    return {
        "status": "error",
        "success": False,
        "statusCode": str(error.number),
        "message": error.text,
        "shortMessage": error.code,
        "timestamp": rfc3339(utcnow()),
        "requestId": get_request_id(),
        "data": {to_camel_case(name): value for name, value in error.data.items()},
    }


def error_response(error: AppError) -> Response:
    """Return the response of `error`, with its status and headers."""
    response = json_response(build_error_envelope(error), error.status)
    response.headers.extend(error.headers)
    return response


def json_response(body: object, status: int = 200) -> Response:
    """Return a JSON response without an envelope."""
    return Response(dump_json(body), status, mimetype="application/json")


def dump_json(value: object) -> bytes:
    """Return `value` as JSON: times in UTC with milliseconds, decimals as numbers."""
    try:
        return orjson.dumps(value, default=_encode_value, option=ORJSON_OPTIONS)
    except TypeError:
        return orjson.dumps(_replace_large_integers(value), default=_encode_value, option=ORJSON_OPTIONS)


def _replace_large_integers(value: object) -> object:
    """Return the value with integers beyond 64 bits as doubles. PostgreSQL reads 1e300 in a jsonb column as such."""
    if isinstance(value, Mapping):
        return {name: _replace_large_integers(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_large_integers(member) for member in value]
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def _encode_value(value: object) -> object:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(type(value).__name__)


def get_request_id() -> str:
    """Return the id of the current request, from its client or the middleware; empty outside of a request."""
    return str(request.environ.get(REQUEST_ID_KEY, "")) if has_request_context() else ""


class OrjsonProvider(JSONProvider):
    """Flask's JSON provider on orjson, which is faster and strict."""

    def dumps(self, obj: object, **_: object) -> str:
        return dump_json(obj).decode()

    def loads(self, s: str | bytes, **_: object) -> Any:
        return orjson.loads(s)

    def response(self, *args: object, **kwargs: object) -> Response:
        return json_response(self._prepare_response_obj(args, kwargs))
