"""How often a caller may use a route, counted in Redis.

With Redis away each process counts by itself at a tenth of the rate, so the door narrows but stays open. Limits
that guard money and codes do not stand here: they are rows in PostgreSQL (see app/core/throttle.py).
"""

import time
from dataclasses import dataclass
from typing import Any

from flask import Flask, current_app, g, request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from app.core.errors import Throttled


@dataclass(frozen=True)
class Limit:
    """So many requests a minute, per account or (for anybody) per client network."""

    per_minute: int


class Counter:
    """The counters of one application: Redis, and memory for when it is away."""

    def __init__(self, redis_url: str, scale: float) -> None:
        url = redis_url.replace("unix://", "redis+unix://", 1) if redis_url.startswith("unix") else redis_url
        options = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}
        self.shared = SlidingWindowCounterRateLimiter(RedisStorage(url, **options))
        self.alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        self.scale = scale
        self.closed_until = 0.0

    def spend(self, limit: Limit, route: str, who: str) -> tuple[int, int]:
        """Counts one request: what remains, and after how many seconds the window is free again."""
        count = max(1, int(limit.per_minute * self.scale))
        if time.monotonic() >= self.closed_until:
            try:
                return self._spend(self.shared, RateLimitItemPerMinute(count), route, who)
            except RedisError:
                self.closed_until = time.monotonic() + 5
        return self._spend(self.alone, RateLimitItemPerMinute(max(1, count // 10)), route, who)

    @staticmethod
    def _spend(
        strategy: SlidingWindowCounterRateLimiter, item: RateLimitItemPerMinute, route: str, who: str
    ) -> tuple[int, int]:
        allowed = strategy.hit(item, route, who)
        window = strategy.get_window_stats(item, route, who)
        wait = max(1, round(window.reset_time - time.time()))
        if not allowed:
            raise Throttled(retry_after=wait)
        return window.remaining, wait


def init_app(app: Flask) -> None:
    settings = app.extensions["settings"]
    app.extensions["request_counter"] = Counter(settings.REDIS_URL, settings.RATE_LIMIT_SCALE)


def spend(limit: Limit, route: str) -> tuple[int, int]:
    """Counts this request against `limit`. Raises Throttled with the seconds to wait."""
    caller = g.get("caller")
    counter: Counter = current_app.extensions["request_counter"]
    return counter.spend(limit, route, caller.id if caller else client_network())


def told(response: Any, limit: Limit, left: tuple[int, int]) -> Any:
    """The response with what remains in its headers."""
    scale = current_app.extensions["settings"].RATE_LIMIT_SCALE
    response.headers["RateLimit-Limit"] = str(max(1, int(limit.per_minute * scale)))
    response.headers["RateLimit-Remaining"], response.headers["RateLimit-Reset"] = map(str, left)
    return response


def client_network() -> str:
    """The client's address, or its /64 for IPv6: what one subscriber has."""
    address = request.remote_addr or "unknown"
    return ":".join(address.split(":")[:4]) + "::/64" if ":" in address else address
