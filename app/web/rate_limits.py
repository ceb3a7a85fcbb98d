"""Rate limits of routes, counted in Redis.

If Redis is down, each process counts alone, at a tenth of the limit. Limits that protect money and one-time codes are
rows of PostgreSQL instead (see app/core/throttle.py). An operation and its page share a limit.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from flask import Flask, current_app, g, request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from app.core.errors import Gone, NotFound, Throttled
from app.core.languages import mark_for_translation
from app.core.redis import connected
from app.core.throttle import Network, network_of
from app.web.middleware import EXTRA_HEADERS_KEY

Params = ParamSpec("Params")
Result = TypeVar("Result")
REDIS_RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class Limit:
    """The number of requests a minute, per account or, on public routes, per client network."""

    per_minute: int


FAILED_LOOKUP_LIMIT = Limit(20)
EMAIL_REQUEST_LIMIT = Limit(20)
CODE_ATTEMPT_LIMIT = Limit(60)
"""The limits of requests for emails, and of attempts of a code. Operations and pages share them."""


@dataclass(frozen=True)
class RateLimitStatus:
    """The limit of a caller, the number of requests that remain, and the seconds until the limit resets."""

    is_allowed: bool
    limit: int
    remaining: int
    reset_seconds: int

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers that report the status to the client."""
        return [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset_seconds)),
        ]


class RateLimiter:
    """The counters of one application: in Redis, or in memory while Redis is down."""

    def __init__(self, redis_url: str, scale: float) -> None:
        # Every request counts here, so Redis gets one try with a short timeout. The client keeps the pool open.
        self.redis = connected(redis_url, seconds=0.2)
        storage = RedisStorage("redis://", connection_pool=self.redis.connection_pool)
        self.redis_limiter = SlidingWindowCounterRateLimiter(storage)
        self.memory_limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self.scale = scale
        self.redis_retry_at = 0.0

    def hit(self, limit: Limit, route: str, client_key: str, *, multiplier: int = 1) -> RateLimitStatus:
        """Count one request and return the status of `multiplier` times the limit."""
        max_requests = max(1, int(limit.per_minute * self.scale * multiplier))
        if time.monotonic() >= self.redis_retry_at:
            try:
                return _hit_limiter(self.redis_limiter, max_requests, route, client_key)
            except RedisError:
                self.redis_retry_at = time.monotonic() + REDIS_RETRY_SECONDS
        return _hit_limiter(self.memory_limiter, max(1, max_requests // 10), route, client_key)


def _hit_limiter(
    limiter: SlidingWindowCounterRateLimiter, max_requests: int, route: str, client_key: str
) -> RateLimitStatus:
    rate_limit = RateLimitItemPerMinute(max_requests)
    is_allowed = limiter.hit(rate_limit, route, client_key)
    window = limiter.get_window_stats(rate_limit, route, client_key)
    return RateLimitStatus(is_allowed, max_requests, window.remaining, max(1, round(window.reset_time - time.time())))


def init_app(app: Flask) -> None:
    settings = app.extensions["settings"]
    app.extensions["request_counter"] = RateLimiter(settings.REDIS_URL, settings.RATE_LIMIT_SCALE)


def count_request(limit: Limit, route: str, *, per_account: bool = False, account_id: str | None = None) -> None:
    """Count this request against `limit` and set its headers on the response. Raises Throttled.

    A public route counts per client network, also for requests with a token; other routes count per account, and so do
    the pages that share their limits (`account_id`).
    """
    client_id = g.caller.client_id if per_account else account_id
    limit_status = (
        _count_by_network(limit, route) if client_id is None else _get_rate_limiter().hit(limit, route, client_id)
    )
    request.environ[EXTRA_HEADERS_KEY] = limit_status.headers
    if not limit_status.is_allowed:
        raise Throttled(retry_after=limit_status.reset_seconds)


def count_like_operation(endpoint: str, *, account_id: str) -> None:
    """Count a request of a page against the limit of the operation that it shares it with. Raises Throttled."""
    view: Any = current_app.view_functions[endpoint]
    operation = view.operation
    count_request(operation.limit, operation.route, account_id=account_id)


def _count_by_network(limit: Limit, route: str) -> RateLimitStatus:
    """Count the request for each network of the client, and return the status with the fewest requests left."""
    statuses = [
        _get_rate_limiter().hit(limit, route, network, multiplier=network.share)
        for network in get_client_network().counted
    ]
    return min(statuses, key=lambda limit_status: (limit_status.is_allowed, limit_status.remaining))


def _get_rate_limiter() -> RateLimiter:
    rate_limiter: RateLimiter = current_app.extensions["request_counter"]
    return rate_limiter


def limit_failed_lookups(view: Callable[Params, Result]) -> Callable[Params, Result]:
    """Return a view of secret links whose failed lookups are limited: twenty a minute per client network, over all views.

    Only unknown and expired links count (see `count_lookup_failure`).
    """

    @wraps(view)
    def wrapper(*args: Params.args, **arguments: Params.kwargs) -> Result:
        try:
            return view(*args, **arguments)
        except (NotFound, Gone):
            count_lookup_failure()
            raise

    return wrapper


def count_lookup_failure() -> None:
    """Count the lookup of an unknown or expired link. Raises Throttled beyond the limit."""
    limit_status = _count_by_network(FAILED_LOOKUP_LIMIT, "missed")
    if not limit_status.is_allowed:
        raise Throttled(
            mark_for_translation("Too many links that do not work; wait a moment."),
            retry_after=limit_status.reset_seconds,
        )


def get_client_network() -> Network:
    """Return the network of the client, as rate limits count it."""
    return network_of(request.remote_addr)
