"""A circuit breaker that all workers of all processes share: five failures in a row, and nobody calls for a while.

    closed ── 5 failures within 30 s, no success between ──▶ open ── 15 s ──▶ half open ── one try succeeds ──▶ closed
                                                               ▲                 │
                                                               └──── it fails ───┘

Its state is three keys in Redis, and the one try of the half-open state is a key that only one caller can set. Without
Redis everybody may call: the breaker saves time, and no promise about money leans on it
(docs/decisions/payrail-breaker.md).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import structlog
from redis.exceptions import RedisError

from app.core.redis import connected

Found = TypeVar("Found")
PATIENCE, SILENCE = 0.2, 2.0
log = structlog.get_logger(__name__)


class Permit(Enum):
    """Whether a call may be made: as any other, as the one that tries, or not."""

    FREE = "free"
    TRIAL = "trial"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When it opens, for how long, and how long the one try may take (seconds)."""

    failures: int = 5
    window: float = 30.0
    open_for: float = 15.0
    trial: float = 20.0
    forget: float = 3600.0


class Breaker:
    """The breaker of one rail."""

    def __init__(self, redis_url: str, name: str, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._redis = connected(redis_url, seconds=PATIENCE)
        self._silent_until = 0.0
        self._failures, self._tripped, self._open, self._trial = (
            f"payrail:{name}:{part}" for part in ("failures", "tripped", "open", "trial")
        )

    def permit(self) -> Permit:
        """Whether to call. Every TRIAL must be answered by `succeeded` or `failed`, or nobody tries for 20 s."""
        permit: Permit = self._call_redis(self._permit, Permit.FREE)
        return permit

    def succeeded(self, permit: Permit) -> None:
        """The rail has answered. Only the one that tries closes what is open: others may have begun before."""
        keys = [self._failures]
        if permit is Permit.TRIAL:
            keys += [self._tripped, self._open, self._trial]
            log.info("payrail.breaker_closed")
        self._call_redis(lambda: self._redis.delete(*keys), None)

    def failed(self, permit: Permit) -> None:
        """The rail has not answered, or not as a rail does."""
        self._call_redis(lambda: self._count(permit), None)

    def state(self) -> str | None:
        """`closed`, `half_open` or `open`; None when Redis does not say."""
        result = self._call_redis(lambda: self._redis.mget(self._open, self._tripped), None)
        if result is None:
            return None
        is_open, tripped = result
        return "open" if is_open else "half_open" if tripped else "closed"

    def _permit(self) -> Permit:
        is_open, tripped = self._redis.mget(self._open, self._tripped)
        if is_open:
            return Permit.NONE
        if not tripped:
            return Permit.FREE
        first = self._redis.set(self._trial, 1, nx=True, px=_ms(self.limits.trial))
        return Permit.TRIAL if first else Permit.NONE

    def _count(self, permit: Permit) -> None:
        with self._redis.pipeline() as pipeline:
            pipeline.set(self._failures, 0, nx=True, px=_ms(self.limits.window))
            pipeline.incr(self._failures)
            count = pipeline.execute()[1]
        if permit is Permit.TRIAL or count >= self.limits.failures:
            self._trip()

    def _trip(self) -> None:
        with self._redis.pipeline() as pipeline:
            pipeline.set(self._open, 1, px=_ms(self.limits.open_for))
            pipeline.set(self._tripped, 1, px=_ms(self.limits.forget))
            pipeline.delete(self._failures, self._trial)
            pipeline.execute()
        log.warning("payrail.breaker_opened", seconds=self.limits.open_for)

    def _call_redis(self, ask: Callable[[], Found], otherwise: Any) -> Any:
        if time.monotonic() < self._silent_until:
            return otherwise
        try:
            return ask()
        except (RedisError, OSError) as error:
            self._silent_until = time.monotonic() + SILENCE
            log.warning("payrail.breaker_without_redis", error=type(error).__name__)
            return otherwise


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
