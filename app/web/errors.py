"""Every exception goes one way: to an AppError, to the envelope (or, for people, to a page)."""

from typing import Any

import psycopg
import structlog
from flask import Flask, Response, current_app, request
from flask.typing import ResponseReturnValue
from sqlalchemy import exc
from werkzeug.exceptions import ClientDisconnected, HTTPException, SecurityError

from app.core import errors
from app.core.errors import AppError
from app.core.telemetry.errors import report
from app.web.edge import ROUTE
from app.web.envelope import error_response
from app.web.measuring import POOL_TIMEOUTS, route_of
from app.web.refusals import BodyBroken, HostNotTrusted

log = structlog.get_logger("errors")
PAGE = "event_commerce.error_page"
"""In the environment of a request whose errors are shown to people; of the application, the page for any of them."""
BUSY_STATES = {"55P03", "57014", "40P01", "40001"}
# Connection trouble, shutting down, no room, an idle transaction cut off, and a standby where the primary was.
AWAY_STATES = ("08", "57P", "53", "25P03", "25006")
BY_STATUS: dict[int, type[AppError]] = {
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
    app.register_error_handler(Exception, handle)


def handle(exception: Exception) -> ResponseReturnValue:
    """The answer for any exception; one that nobody foresaw is logged and told without insides."""
    error = translated(exception)
    # A log line names the route, never what stood in its place: that may be a token.
    if request.url_rule is not None:
        request.environ.setdefault(ROUTE, request.url_rule.rule)
    if isinstance(error, errors.InternalError):
        log.error("unhandled", exc_info=exception, kind=type(exception).__name__)
        report(exception, route=route_of(request.environ))
    page = request.environ.get(PAGE) or _for_whoever_lost_his_way()
    if page is not None:
        shown: Response = page(error)
        return shown
    try:
        return error_response(error)
    except TypeError as unsayable:
        return handle(unsayable)


def _for_whoever_lost_his_way() -> Any:
    """The page for an address that somebody typed into a browser and that nothing stands at; programs get envelopes."""
    browser = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if request.url_rule is not None or not browser or request.path.startswith("/api/"):
        return None
    return current_app.extensions.get(PAGE)


def translated(exception: Exception) -> AppError:
    """The AppError that `exception` amounts to."""
    if isinstance(exception, AppError):
        return exception
    if isinstance(exception, HTTPException):
        return _of_werkzeug(exception)
    if isinstance(exception, exc.TimeoutError):
        POOL_TIMEOUTS.add()
        return errors.Busy()
    if isinstance(exception, exc.DBAPIError):
        return _of_database(exception.orig, lost=exception.connection_invalidated)
    if isinstance(exception, psycopg.Error):
        return _of_database(exception, lost=False)
    return errors.InternalError()


def _of_werkzeug(exception: HTTPException) -> AppError:
    if isinstance(exception, SecurityError):
        return HostNotTrusted()
    if isinstance(exception, ClientDisconnected):
        return BodyBroken()
    if exception.response is not None or exception.code is None:
        return errors.InternalError()
    error = BY_STATUS.get(exception.code, errors.BadRequest if exception.code < 500 else errors.InternalError)()
    for name, value in exception.get_headers():
        if name.lower() in ("allow", "retry-after", "www-authenticate"):
            error.headers[name] = value
    return error


def _of_database(cause: BaseException | None, *, lost: bool) -> AppError:
    state = getattr(cause, "sqlstate", None) or ""
    if state in BUSY_STATES:
        return errors.Busy()
    if lost or (isinstance(cause, psycopg.OperationalError) and not state) or state.startswith(AWAY_STATES):
        return errors.DatabaseAway()
    return errors.InternalError()
