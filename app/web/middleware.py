"""WSGI middleware around Flask: request ids, headers, the request log, metrics, spans, checked body streams.

It is plain WSGI because it runs for every request: Flask hooks would cost a fifth of the time of `/health`. Metrics are
labelled by declared route, method and status; the path of a request is never a label.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog
from flask import Flask
from sqlalchemy import Engine

from app.core.context import GUEST, SYSTEM, client_address, current_actor
from app.core.context import request_id as current_request_id
from app.core.db import db
from app.core.metrics import Counter, Gauge, Histogram
from app.core.telemetry.spans import Spans
from app.web.envelope import REQUEST_ID_KEY
from app.web.errors import MalformedBody

if TYPE_CHECKING:
    from _typeshed import OptExcInfo
    from _typeshed.wsgi import InputStream, StartResponse, WSGIApplication, WSGIEnvironment

ROUTE_KEY = "event_commerce.route"
EXTRA_HEADERS_KEY = "event_commerce.headers"
_VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_SECRET_SEGMENT = re.compile(r"(?<=/)(?:[^/]{20,}|[^/]*[^a-z/.-][^/]*)")
SLOW_SECONDS = 1.0
log = structlog.get_logger("http")
SECURITY_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ("Cache-Control", "no-store"),
    (
        "Content-Security-Policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]
HSTS_HEADER = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")


class RequestMetrics:
    """Counts the requests of one application."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def start_request(self) -> None:
        """Count a request as in flight."""
        IN_FLIGHT.add(1.0)

    def finish_request(self) -> None:
        """Count a request as finished, and record the connections in use."""
        pool: Any = self._engine.pool
        IN_FLIGHT.add(-1.0)
        POOL_IN_USE.set(pool.checkedout())

    def record_response(self, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        """Count a response. `status` has three digits."""
        method: str = environ["REQUEST_METHOD"]
        if method not in KNOWN_METHODS:
            method = "other"
        route = get_route_rule(environ)
        REQUESTS.add(route, method, status)
        REQUEST_SECONDS.observe(seconds, route, method)

    @cached_property
    def _engine(self) -> Engine:
        with self._app.app_context():
            return db.engine


class RequestMiddleware:
    """Sets the request id, adds missing headers, counts requests and logs writes, errors and slow requests."""

    def __init__(self, application: "WSGIApplication", metrics: RequestMetrics, *, https: bool) -> None:
        self.application, self.metrics = application, metrics
        self.headers = SECURITY_HEADERS + ([HSTS_HEADER] if https else [])
        self.headers_by_name = {name.lower(): (name, value) for name, value in self.headers}

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        client_request_id = environ.get("HTTP_X_REQUEST_ID", "")
        request_id = client_request_id if _VALID_REQUEST_ID.fullmatch(client_request_id) else secrets.token_hex(12)
        environ[REQUEST_ID_KEY] = request_id
        current_request_id.set(request_id)
        current_actor.set(GUEST)
        client_address.set(environ.get("REMOTE_ADDR", ""))
        wrap_body_stream(environ)
        started_at = time.perf_counter()

        def start_response_with_headers(
            status: str, headers: list[tuple[str, str]], exc_info: "OptExcInfo | None" = None
        ) -> Callable[[bytes], object]:
            present_names = {name.lower() for name, _ in headers}
            headers += [header for name, header in self.headers_by_name.items() if name not in present_names]
            headers += environ.get(EXTRA_HEADERS_KEY, ())
            headers.append(("X-Request-Id", request_id))
            seconds = time.perf_counter() - started_at
            self.metrics.record_response(environ, status[:3], seconds)
            _log_request(environ, status, seconds)
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        self.metrics.start_request()
        try:
            return self.application(environ, start_response_with_headers)
        finally:
            current_actor.set(SYSTEM)
            client_address.set("")
            self.metrics.finish_request()


def _log_request(environ: "WSGIEnvironment", status: str, seconds: float) -> None:
    method, status_code = environ["REQUEST_METHOD"], int(status[:3])
    if status_code < 400 and method in ("GET", "HEAD", "OPTIONS") and seconds < SLOW_SECONDS:
        return
    write = log.error if status_code >= 500 else log.info
    write(
        "request",
        method=method,
        route=environ.get(ROUTE_KEY) or mask_path(environ.get("PATH_INFO", "")),
        status=status_code,
        ms=round(seconds * 1000, 1),
    )


def mask_path(path: str) -> str:
    """Return a path without secrets. A segment that is not a short word becomes six characters of its hash."""
    return _SECRET_SEGMENT.sub(lambda match: "~" + sha256(match[0].encode()).hexdigest()[:6], path[:500])


class TracingMiddleware:
    """Records a span per request, named after its route. It runs inside RequestMiddleware, which sets the request id."""

    def __init__(self, application: "WSGIApplication", spans: Spans) -> None:
        self.application, self.spans = application, spans

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        method, traceparent = environ["REQUEST_METHOD"], environ.get("HTTP_TRACEPARENT", "")
        headers = {"traceparent": traceparent} if traceparent else None
        with self.spans.span(method, headers, method=method, request_id=environ[REQUEST_ID_KEY]) as span:

            def start_response_with_span(
                status: str, headers: list[tuple[str, str]], *exc_info: "OptExcInfo | None"
            ) -> Callable[[bytes], object]:
                span.update(status=int(status[:3]), route=get_route_rule(environ))
                span["name"] = f"{method} {span['route']}"
                return start_response(status, headers, *exc_info)

            return self.application(environ, start_response_with_span)


class CheckedBodyStream:
    """Wraps the input stream of the server. A malformed chunk or an early end raises MalformedBody."""

    def __init__(self, stream: "InputStream", length: int | None) -> None:
        self._stream, self._remaining = stream, length

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all. Raises MalformedBody."""
        try:
            data = self._stream.read(size)
        except Exception as error:
            raise MalformedBody() from error
        if self._remaining is not None:
            self._remaining -= len(data)
            if self._remaining > 0 and (size < 0 or (size > 0 and not data)):
                raise MalformedBody()
        return data


def wrap_body_stream(environ: "WSGIEnvironment") -> None:
    """Replace the input stream of a request with a body by a CheckedBodyStream."""
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        environ["wsgi.input"] = CheckedBodyStream(environ["wsgi.input"], int(length))
    elif "HTTP_TRANSFER_ENCODING" in environ:
        environ["wsgi.input"] = CheckedBodyStream(environ["wsgi.input"], None)


REQUESTS = Counter(
    "commerce_http_requests_total",
    "Responses by declared route (`none` if no route matches), method and status.",
    ("route", "method", "status"),
)
REQUEST_SECONDS = Histogram(
    "commerce_http_request_seconds",
    "Seconds from the arrival of a request to the start of its response; for a stream, to its first event.",
    ("route", "method"),
)
IN_FLIGHT = Gauge("commerce_http_requests_in_flight", "Requests in progress.")
POOL_IN_USE = Gauge(
    "commerce_database_pool_in_use", "Connections taken from the pools, measured at the end of each request."
)
POOL_TIMEOUTS = Counter(
    "commerce_database_pool_timeouts_total", "Requests refused because the pool had no free connection for two seconds."
)
KNOWN_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def get_route_rule(environ: "WSGIEnvironment") -> str:
    """Return the declared route of a request, or `none` if no route matches."""
    if ROUTE_KEY in environ:
        return str(environ[ROUTE_KEY])
    request = environ.get("werkzeug.request")
    rule = request.url_rule if request is not None else None
    return rule.rule if rule is not None else "none"
