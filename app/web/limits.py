"""How often a caller may use a route, counted in Redis.

With Redis away each process counts by itself at a tenth of the rate, so the door narrows but stays open. Limits
that guard money and codes do not stand here: they are rows in PostgreSQL (see app/core/throttle.py).
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
from app.web.edge import ADDED

CLOSED_SECONDS = 5.0
View = Callable[..., Any]


@dataclass(frozen=True)
class Limit:
    """So many requests a minute, per account or (for anybody) per client network."""

    per_minute: int


MISSING = Limit(20)


@dataclass(frozen=True)
class Left:
    """What a caller has left: of how many, and after how many seconds there is more."""

    allowed: bool
    count: int
    remaining: int
    seconds: int

    @property
    def headers(self) -> list[tuple[str, str]]:
        return [
            ("RateLimit-Limit", str(self.count)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.seconds)),
        ]


class Counter:
    """The counters of one application: Redis, and memory for when it is away."""

    def __init__(self, redis_url: str, scale: float) -> None:
        # A limit is asked for on every request: one try, and a short one. The client keeps the pool open.
        self.redis = connected(redis_url, seconds=0.2)
        storage = RedisStorage("redis://", connection_pool=self.redis.connection_pool)
        self.shared = SlidingWindowCounterRateLimiter(storage)
        self.alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        self.scale = scale
        self.closed_until = 0.0

    def spend(self, limit: Limit, route: str, who: str, *, share: int = 1) -> Left:
        """Counts one request and tells what is left of `share` times the limit."""
        count = max(1, int(limit.per_minute * self.scale * share))
        if time.monotonic() >= self.closed_until:
            try:
                return _hit(self.shared, count, route, who)
            except RedisError:
                self.closed_until = time.monotonic() + CLOSED_SECONDS
        return _hit(self.alone, max(1, count // 10), route, who)


def _hit(strategy: SlidingWindowCounterRateLimiter, count: int, route: str, who: str) -> Left:
    item = RateLimitItemPerMinute(count)
    allowed = strategy.hit(item, route, who)
    window = strategy.get_window_stats(item, route, who)
    return Left(allowed, count, window.remaining, max(1, round(window.reset_time - time.time())))


def init_app(app: Flask) -> None:
    settings = app.extensions["settings"]
    app.extensions["request_counter"] = Counter(settings.REDIS_URL, settings.RATE_LIMIT_SCALE)


def spend(limit: Limit, route: str, *, per_account: bool = False) -> None:
    """Counts this request against `limit`; its headers tell what is left. Raises Throttled.

    What anybody may call counts the client network, also when a token was sent; what needs a token, the account.
    """
    left = _spend_by_network(limit, route) if not per_account else _counter().spend(limit, route, g.caller.id)
    request.environ[ADDED] = left.headers
    if not left.allowed:
        raise Throttled(retry_after=left.seconds)


def _spend_by_network(limit: Limit, route: str) -> Left:
    """What is left of the narrowest count."""
    lefts = [_counter().spend(limit, route, item, share=item.share) for item in client_network().counted]
    return min(lefts, key=lambda left: (left.allowed, left.remaining))


def _counter() -> Counter:
    counter: Counter = current_app.extensions["request_counter"]
    return counter


def missing_counts(view: View) -> View:
    """The view of a secret address, where at most twenty a minute of a client network may miss, on all of them.

    What is found costs nothing: only an unknown or dead address is counted, by `count_miss`.
    """

    @wraps(view)
    def counted(*args: Any, **arguments: Any) -> Any:
        try:
            return view(*args, **arguments)
        except (NotFound, Gone):
            count_miss()
            raise

    return counted


def count_miss() -> None:
    """Counts a secret address that was unknown or dead. Raises Throttled beyond the limit."""
    left = _spend_by_network(MISSING, "missed")
    if not left.allowed:
        raise Throttled("Too many links that do not work; wait a moment.", retry_after=left.seconds)


def client_network() -> Network:
    """The client's network, as limits count it."""
    return network_of(request.remote_addr)
