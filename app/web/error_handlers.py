"""The handler of all exceptions: it converts each to an AppError, and that to an envelope or, for people, to a page.

For an unknown path it suggests the route that the client may have meant.
"""

import re
from collections.abc import Callable
from difflib import get_close_matches

import psycopg
import structlog
from flask import Flask, Response, current_app, request
from flask.typing import ResponseReturnValue
from sqlalchemy import exc
from werkzeug.exceptions import ClientDisconnected, HTTPException, MethodNotAllowed, NotFound, SecurityError

from app.core import errors
from app.core.errors import AppError
from app.core.telemetry.errors import report
from app.web.envelope import error_response
from app.web.errors import HostNotTrusted, MalformedBody
from app.web.middleware import POOL_TIMEOUTS, ROUTE_KEY, get_route_rule

log = structlog.get_logger("errors")
ERROR_PAGE_KEY = "event_commerce.error_page"
"""The key of the function that renders an error page: in the environ of a request to a page, and in `app.extensions`."""
BUSY_SQLSTATES = {"55P03", "57014", "40P01", "40001"}
# Connection errors, shutdown, no resources, a terminated idle transaction, and a standby in place of the primary.
UNAVAILABLE_SQLSTATES = ("08", "57P", "53", "25P03", "25006")
ERROR_BY_STATUS: dict[int, type[AppError]] = {
    400: errors.BadRequest,
    401: errors.Unauthorised,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    409: errors.Conflict,
    410: errors.Gone,
    412: errors.StaleVersion,
    413: errors.TooLarge,
    415: errors.UnsupportedMedia,
    422: errors.Unprocessable,
    429: errors.Throttled,
    503: errors.Unavailable,
}


def init_app(app: Flask) -> None:
    app.register_error_handler(Exception, handle_exception)
    app.extensions[EXTENSION] = None


def handle_exception(exception: Exception) -> ResponseReturnValue:
    """Return the response for an exception. An unexpected one is logged, and the response does not name its details."""
    error = to_app_error(exception)
    # The log names the route, never the path, which may contain a token.
    if request.url_rule is not None:
        request.environ.setdefault(ROUTE_KEY, request.url_rule.rule)
    if isinstance(error, errors.InternalError):
        log.error("unhandled", exc_info=exception, kind=type(exception).__name__)
        report(exception, route=get_route_rule(request.environ))
    render_page: Callable[[AppError], Response] | None = request.environ.get(ERROR_PAGE_KEY) or _find_html_404_handler()
    if render_page is not None:
        return render_page(error)
    try:
        return error_response(error)
    except TypeError as encoding_error:
        return handle_exception(encoding_error)


def _find_html_404_handler() -> Callable[[AppError], Response] | None:
    """Return the error page if a browser requested an unknown URL outside of /api/."""
    is_browser = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if request.url_rule is not None or not is_browser or request.path.startswith("/api/"):
        return None
    return current_app.extensions.get(ERROR_PAGE_KEY)


def to_app_error(exception: Exception) -> AppError:
    """Return the AppError of an exception."""
    if isinstance(exception, AppError):
        return exception
    if isinstance(exception, HTTPException):
        return _from_werkzeug(exception)
    if isinstance(exception, exc.TimeoutError):
        POOL_TIMEOUTS.add()
        return errors.Busy()
    if isinstance(exception, exc.DBAPIError):
        return _from_database(exception.orig, connection_lost=exception.connection_invalidated)
    if isinstance(exception, psycopg.Error):
        return _from_database(exception, connection_lost=False)
    return errors.InternalError()


def _from_werkzeug(exception: HTTPException) -> AppError:
    if isinstance(exception, SecurityError):
        return HostNotTrusted()
    if isinstance(exception, ClientDisconnected):
        return MalformedBody()
    if exception.response is not None or exception.code is None:
        return errors.InternalError()
    kind = ERROR_BY_STATUS.get(exception.code, errors.BadRequest if exception.code < 500 else errors.InternalError)
    error = kind(_describe_routing_error(exception))
    for name, value in exception.get_headers():
        if name.lower() in ("allow", "retry-after", "www-authenticate"):
            error.headers[name] = value
    return error


def _describe_routing_error(exception: HTTPException) -> str | None:
    """The message for a wrong method or an unknown path; None: the message of the error's class."""
    if isinstance(exception, MethodNotAllowed) and exception.valid_methods:
        methods = sorted(set(exception.valid_methods) - {"HEAD", "OPTIONS"})
        return f"This address supports {' and '.join(methods)}."
    if isinstance(exception, NotFound) and request.url_rule is None and (route := suggest_route(request.path)):
        return f"There is nothing at this address. Did you mean {route}?"
    return None


def _from_database(driver_error: BaseException | None, *, connection_lost: bool) -> AppError:
    sqlstate = getattr(driver_error, "sqlstate", None) or ""
    if sqlstate in BUSY_SQLSTATES:
        return errors.Busy()
    if (
        connection_lost
        or (isinstance(driver_error, psycopg.OperationalError) and not sqlstate)
        or sqlstate.startswith(UNAVAILABLE_SQLSTATES)
    ):
        return errors.DatabaseAway()
    return errors.InternalError()


MAX_PATH_LENGTH = 200
MIN_SIMILARITY = 0.8
EXTENSION = "route_templates"
CONVERTER = re.compile(r"<(?:[^:>]+:)?(\w+)>")


def suggest_route(path: str) -> str | None:
    """Return the API route most like `path`, as `/api/events/{id}`; None when none is similar.

    Routes with as many segments are compared; what the client sent in place of a parameter is never repeated.
    """
    if not path.startswith("/api/") or len(path) > MAX_PATH_LENGTH:
        return None
    segments = path.rstrip("/").split("/")
    candidates = {_fill(template, segments): template for template in _list_templates(len(segments))}
    matches = get_close_matches("/".join(segments), candidates, n=1, cutoff=MIN_SIMILARITY)
    return candidates[matches[0]] if matches else None


def _list_templates(segment_count: int) -> list[str]:
    if current_app.extensions[EXTENSION] is None:
        rules = (CONVERTER.sub(r"{\1}", rule.rule) for rule in current_app.url_map.iter_rules())
        current_app.extensions[EXTENSION] = sorted({rule for rule in rules if rule.startswith("/api/")})
    templates: list[str] = current_app.extensions[EXTENSION]
    return [template for template in templates if template.count("/") == segment_count - 1]


def _fill(template: str, segments: list[str]) -> str:
    pairs = zip(template.split("/"), segments, strict=True)
    return "/".join(sent if part.startswith("{") else part for part, sent in pairs)
