"""The outermost layer, below Flask's dispatch: request ids and the headers every answer carries.

It is plain WSGI because it runs for every request: as hooks of Flask the same costs a fifth of `/health`.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog

from app.core.context import request_id as current_request_id
from app.web.envelope import REQUEST_ID
from app.web.measuring import Measured
from app.web.request_body import check_framing

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ROUTE = "event_commerce.route"
ADDED = "event_commerce.headers"
_KEPT = re.compile(r"[A-Za-z0-9._-]{8,64}")
_SECRET_SEGMENT = re.compile(r"(?<=/)(?:[^/]{20,}|[^/]*[^a-z/.-][^/]*)")
SLOW_SECONDS = 1.0
log = structlog.get_logger("http")

HEADERS = [
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
HSTS = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")


class Edge:
    """Wraps a WSGI application: keeps or makes the request id, adds absent headers, counts, logs what matters."""

    def __init__(self, application: "WSGIApplication", measured: Measured, *, https: bool) -> None:
        self.application, self.measured = application, measured
        self.headers = HEADERS + ([HSTS] if https else [])
        self.names = {name.lower(): (name, value) for name, value in self.headers}

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _KEPT.fullmatch(given) else secrets.token_hex(12)
        environ[REQUEST_ID] = request_id
        current_request_id.set(request_id)
        check_framing(environ)
        started = time.perf_counter()

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:
            present = {name.lower() for name, _ in headers}
            headers += [pair for name, pair in self.names.items() if name not in present]
            headers += environ.get(ADDED, ())
            headers.append(("X-Request-Id", request_id))
            seconds = time.perf_counter() - started
            self.measured.answered(environ, status[:3], seconds)
            _log(environ, status, seconds)
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        self.measured.begin()
        try:
            return self.application(environ, start)
        finally:
            self.measured.end()


def _log(environ: "WSGIEnvironment", status: str, seconds: float) -> None:
    method, code = environ["REQUEST_METHOD"], int(status[:3])
    if code < 400 and method in ("GET", "HEAD", "OPTIONS") and seconds < SLOW_SECONDS:
        return
    write = log.error if code >= 500 else log.info
    write(
        "request",
        method=method,
        route=environ.get(ROUTE) or masked(environ.get("PATH_INFO", "")),
        status=code,
        ms=round(seconds * 1000, 1),
    )


def masked(path: str) -> str:
    """A path without its secrets: each segment that is no short word becomes six characters of its hash."""
    return _SECRET_SEGMENT.sub(lambda found: "~" + sha256(found[0].encode()).hexdigest()[:6], path[:500])
