"""The response of `/metrics`. Computed metrics are cached for five seconds.

Clients on this machine and clients with METRICS_TOKEN may read it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from ipaddress import ip_address
from threading import Lock

from flask import Response, current_app, request

from app.clients import message_counter
from app.config import Settings
from app.core.errors import Forbidden
from app.core.metrics.exposition import CONTENT_TYPE, Numbers, format_metrics
from app.web.metrics_endpoint import database_metrics, infrastructure_metrics

MAX_AGE_SECONDS = 5.0
PROXY_HEADERS = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Forwarded", "Via")
WORKER_METRICS = (message_counter.MESSAGES,)
"""Metrics that only workers count. The import declares them in this process, so that it can report them."""


@dataclass
class ComputedMetricsCache:
    """The last computed metrics, shared by all threads of a process."""

    lock: Lock = field(default_factory=Lock)
    loaded_at: float = float("-inf")
    values: Numbers = field(default_factory=dict)

    def get_or_load(self, max_age_seconds: float, load: Callable[[], Numbers]) -> Numbers:
        """Return the cached metrics, or those of `load` if they are too old."""
        with self.lock:
            if time.monotonic() - self.loaded_at > max_age_seconds:
                self.values, self.loaded_at = load(), time.monotonic()
            return self.values


def build_metrics_response() -> Response:
    """Return all metrics in the text format of Prometheus. Raises MetricsClosed."""
    check_access()
    computed_metrics = get_computed_metrics(current_app.extensions["settings"])
    return Response(format_metrics(computed_metrics), content_type=CONTENT_TYPE)


def get_computed_metrics(settings: Settings) -> Numbers:
    """Return the computed metrics, at most five seconds old."""
    cache: ComputedMetricsCache = current_app.extensions.setdefault("computed_metrics", ComputedMetricsCache())
    return cache.get_or_load(
        MAX_AGE_SECONDS,
        lambda: {
            **database_metrics.load_database_metrics(settings.DATABASE_URL),
            **infrastructure_metrics.read_infrastructure_metrics(settings),
        },
    )


class MetricsClosed(Forbidden):
    number, code = 40370, "METRICS_CLOSED"
    message = "Read metrics from this machine, or with METRICS_TOKEN as the Bearer token."


def check_access() -> None:
    """Raise MetricsClosed unless the client may read metrics."""
    if not (_is_local_client() or _has_token()):
        raise MetricsClosed()


def _is_local_client() -> bool:
    """Whether the request is direct from a loopback address or a local socket. Requests through a proxy are not local."""
    if any(name in request.headers for name in PROXY_HEADERS):
        return False
    address = request.environ.get("werkzeug.proxy_fix.orig", {}).get("REMOTE_ADDR") or request.remote_addr
    try:
        return not address or ip_address(address).is_loopback
    except ValueError:
        return False


def _has_token() -> bool:
    expected_token: str | None = current_app.extensions["settings"].METRICS_TOKEN
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not expected_token or scheme.lower() != "bearer":
        return False
    return compare_digest(token.strip().encode("utf-8", "replace"), expected_token.encode())
