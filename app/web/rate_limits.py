"""How often a caller may use a route, counted in Redis.

With Redis away each process counts by itself at a tenth of the rate, so the door narrows but stays open. Limits
that guard money and codes do not stand here: they are rows in PostgreSQL (see app/core/throttle.py).

Rates that an operation and its page share, so that neither is a way around the other.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from flask import Flask, current_app, g, request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from app.core.errors import Gone, NotFound, Throttled
from app.core.networks import Network, network_of
from app.core.redis import connected
from app.web.middleware import EXTRA_HEADERS_KEY

REDIS_RETRY_SECONDS = 5.0
View = Callable[..., Any]


@dataclass(frozen=True)
class Limit:
    """So many requests a minute, per account or (for anybody) per client network."""

    per_minute: int


FAILED_LOOKUP_LIMIT = Limit(20)


@dataclass(frozen=True)
class RateLimitStatus:
    """What a caller has left: of how many, and after how many seconds there is more."""

    is_allowed: bool
    limit: int
    remaining: int
    reset_seconds: int

    @property
    def headers(self) -> list[tuple[str, str]]:
        return [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset_seconds)),
        ]


class RateLimiter:
    """The counters of one application: Redis, and memory for when it is away."""

    def __init__(self, redis_url: str, scale: float) -> None:
        # A limit is asked for on every request: one try, and a short one. The client keeps the pool open.
        self.redis = connected(redis_url, seconds=0.2)
        storage = RedisStorage("redis://", connection_pool=self.redis.connection_pool)
        self.redis_limiter = SlidingWindowCounterRateLimiter(storage)
        self.memory_limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self.scale = scale
        self.redis_retry_at = 0.0

    def hit(self, limit: Limit, route: str, client_key: str, *, multiplier: int = 1) -> RateLimitStatus:
        """Counts one request and tells what is left of `share` times the limit."""
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


def count_request(limit: Limit, route: str, *, per_account: bool = False) -> None:
    """Counts this request against `limit`; its headers tell what is left. Raises Throttled.

    What anybody may call counts the client network, also when a token was sent; what needs a token, the account.
    """
    limit_status = (
        _count_by_network(limit, route) if not per_account else _get_rate_limiter().hit(limit, route, g.caller.id)
    )
    request.environ[EXTRA_HEADERS_KEY] = limit_status.headers
    if not limit_status.is_allowed:
        raise Throttled(retry_after=limit_status.reset_seconds)


def _count_by_network(limit: Limit, route: str) -> RateLimitStatus:
    """What is left of the narrowest count."""
    statuses = [
        _get_rate_limiter().hit(limit, route, network, multiplier=network.share)
        for network in get_client_network().counted
    ]
    return min(statuses, key=lambda limit_status: (limit_status.is_allowed, limit_status.remaining))


def _get_rate_limiter() -> RateLimiter:
    rate_limiter: RateLimiter = current_app.extensions["request_counter"]
    return rate_limiter


def limit_failed_lookups(view: View) -> View:
    """The view of a secret address, where at most twenty a minute of a client network may miss, on all of them.

    What is found costs nothing: only an unknown or dead address is counted, by `count_miss`.
    """

    @wraps(view)
    def wrapper(*args: Any, **arguments: Any) -> Any:
        try:
            return view(*args, **arguments)
        except (NotFound, Gone):
            count_lookup_failure()
            raise

    return wrapper


def count_lookup_failure() -> None:
    """Counts a secret address that was unknown or dead. Raises Throttled beyond the limit."""
    limit_status = _count_by_network(FAILED_LOOKUP_LIMIT, "missed")
    if not limit_status.is_allowed:
        raise Throttled("Too many links that do not work; wait a moment.", retry_after=limit_status.reset_seconds)


def get_client_network() -> Network:
    """The client's network, as limits count it."""
    return network_of(request.remote_addr)


EMAIL_REQUEST_LIMIT = Limit(20)
CODE_ATTEMPT_LIMIT = Limit(60)
