"""What every request is counted as: its route as it is declared, never its path; its method; its status."""

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
    "Answers, by route as declared (`none` where no route is), method and status.",
    ("route", "method", "status"),
)
SECONDS = Histogram(
    "commerce_http_request_seconds",
    "Seconds from a request's arrival to the head of its answer; of a stream, to its first event.",
    ("route", "method"),
)
IN_FLIGHT = Gauge("commerce_http_requests_in_flight", "Requests that are being worked on.")
POOL_IN_USE = Gauge(
    "commerce_database_pool_in_use", "Connections taken from the pools, looked at whenever a request ends."
)
POOL_TIMEOUTS = Counter(
    "commerce_database_pool_timeouts_total", "Requests refused because no connection came free in two seconds."
)
WIDTH = SECONDS.width - 1
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


def route_of(environ: "WSGIEnvironment") -> str:
    """The route of a request as it is declared; `none` where no route is."""
    request = environ.get("werkzeug.request")
    rule = request.url_rule if request is not None else None
    return rule.rule if rule is not None else "none"


class Measured:
    """Counts the requests of one application."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._store: Store = app.extensions["metrics"]

    def begin(self) -> None:
        page = self._store.page()
        with page.lock:
            page.values[page.find(IN_FLIGHT, ())] += 1.0

    def end(self) -> None:
        pool: Any = self._engine.pool
        taken, page = pool.checkedout(), self._store.page()
        with page.lock:
            page.values[page.find(IN_FLIGHT, ())] -= 1.0
            page.values[page.find(POOL_IN_USE, ())] = taken

    def answered(self, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        method: str = environ["REQUEST_METHOD"]
        if method not in METHODS:
            method = "other"
        route = route_of(environ)
        page = self._store.page()
        values = page.values
        with page.lock:
            values[page.find(REQUESTS, (route, method, status))] += 1.0
            first = page.find(SECONDS, (route, method))
            values[first + bisect_left(SECONDS.buckets, seconds)] += 1.0
            values[first + WIDTH] += seconds

    @cached_property
    def _engine(self) -> Engine:
        with self._app.app_context():
            return db.engine
