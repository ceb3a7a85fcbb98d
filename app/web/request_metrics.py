"""Metrics of requests, by declared route, method and status. The path of a request is never a label."""

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flask import Flask
from sqlalchemy import Engine

from app.core.db import db
from app.core.metrics import Counter, Gauge, Histogram, Store

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

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
SUM_OFFSET = REQUEST_SECONDS.width - 1
KNOWN_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def get_route_rule(environ: "WSGIEnvironment") -> str:
    """Return the declared route of a request, or `none` if no route matches."""
    request = environ.get("werkzeug.request")
    rule = request.url_rule if request is not None else None
    return rule.rule if rule is not None else "none"


class RequestMetrics:
    """Counts the requests of one application."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._store: Store = app.extensions["metrics"]

    def start_request(self) -> None:
        """Count a request as in flight."""
        page = self._store.page()
        with page.lock:
            page.values[page.find(IN_FLIGHT, ())] += 1.0

    def finish_request(self) -> None:
        """Count a request as finished, and record the connections in use."""
        pool: Any = self._engine.pool
        connections_in_use, page = pool.checkedout(), self._store.page()
        with page.lock:
            page.values[page.find(IN_FLIGHT, ())] -= 1.0
            page.values[page.find(POOL_IN_USE, ())] = connections_in_use

    def record_response(self, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        """Count a response. `status` has three digits."""
        method: str = environ["REQUEST_METHOD"]
        if method not in KNOWN_METHODS:
            method = "other"
        route = get_route_rule(environ)
        page = self._store.page()
        values = page.values
        with page.lock:
            values[page.find(REQUESTS, (route, method, status))] += 1.0
            bucket_index = page.find(REQUEST_SECONDS, (route, method))
            values[bucket_index + bisect_left(REQUEST_SECONDS.buckets, seconds)] += 1.0
            values[bucket_index + SUM_OFFSET] += seconds

    @cached_property
    def _engine(self) -> Engine:
        with self._app.app_context():
            return db.engine
