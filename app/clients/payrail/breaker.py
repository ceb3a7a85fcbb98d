"""A circuit breaker in Redis, shared by all processes: after five failures in a row no process calls for a while.

    closed ── 5 failures within 30 s, no success between ──▶ open ── 15 s ──▶ half open ── one try succeeds ──▶ closed
                                                               ▲                 │
                                                               └──── it fails ───┘

Its state is three keys in Redis; the trial of the half-open state is a key that only one caller can set. Without Redis
all calls are allowed: the breaker saves time, and no rule about money depends on it
(docs/decisions/payrail-breaker.md).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

import structlog
from redis.exceptions import RedisError

from app.core.redis import connected

Result = TypeVar("Result")
REDIS_TIMEOUT, REDIS_RETRY_SECONDS = 0.2, 2.0
log = structlog.get_logger(__name__)


class Permit(Enum):
    """Whether a call is allowed: freely, as the trial, or not."""

    FREE = "free"
    TRIAL = "trial"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Failures that open it, and times in seconds: of counting, of being open, of a trial, of the tripped state."""

    failures: int = 5
    window: float = 30.0
    open_for: float = 15.0
    trial: float = 20.0
    forget: float = 3600.0


class Breaker:
    """The breaker of one rail."""

    def __init__(self, redis_url: str, name: str, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._redis = connected(redis_url, seconds=REDIS_TIMEOUT)
        self._skip_redis_until = 0.0
        self._failures, self._tripped, self._open, self._trial = (
            f"payrail:{name}:{part}" for part in ("failures", "tripped", "open", "trial")
        )

    def permit(self) -> Permit:
        """Whether to call. After TRIAL, call `succeeded` or `failed`; otherwise there is no other trial for 20 s."""
        return self._call_redis(self._read_permit, Permit.FREE)

    def succeeded(self, permit: Permit) -> None:
        """Record a response. Only the trial closes the breaker; other calls may have begun before it opened."""
        keys = [self._failures]
        if permit is Permit.TRIAL:
            keys += [self._tripped, self._open, self._trial]
            log.info("payrail.breaker_closed")
        self._call_redis(lambda: self._redis.delete(*keys), None)

    def failed(self, permit: Permit) -> None:
        """Record a missing or unusable response."""
        self._call_redis(lambda: self._count_failure(permit), None)

    def state(self) -> str | None:
        """`closed`, `half_open` or `open`; None without Redis."""
        return self._call_redis(self._read_state, None)

    def _read_state(self) -> str:
        is_open, tripped = self._redis.mget(self._open, self._tripped)
        return "open" if is_open else "half_open" if tripped else "closed"

    def _read_permit(self) -> Permit:
        is_open, tripped = self._redis.mget(self._open, self._tripped)
        if is_open:
            return Permit.NONE
        if not tripped:
            return Permit.FREE
        is_trial = self._redis.set(self._trial, 1, nx=True, px=_to_milliseconds(self.limits.trial))
        return Permit.TRIAL if is_trial else Permit.NONE

    def _count_failure(self, permit: Permit) -> None:
        with self._redis.pipeline() as pipeline:
            pipeline.set(self._failures, 0, nx=True, px=_to_milliseconds(self.limits.window))
            pipeline.incr(self._failures)
            count = pipeline.execute()[1]
        if permit is Permit.TRIAL or count >= self.limits.failures:
            self._trip()

    def _trip(self) -> None:
        with self._redis.pipeline() as pipeline:
            pipeline.set(self._open, 1, px=_to_milliseconds(self.limits.open_for))
            pipeline.set(self._tripped, 1, px=_to_milliseconds(self.limits.forget))
            pipeline.delete(self._failures, self._trial)
            pipeline.execute()
        log.warning("payrail.breaker_opened", seconds=self.limits.open_for)

    def _call_redis(self, command: Callable[[], Result], default: Result) -> Result:
        if time.monotonic() < self._skip_redis_until:
            return default
        try:
            return command()
        except (RedisError, OSError) as error:
            self._skip_redis_until = time.monotonic() + REDIS_RETRY_SECONDS
            log.warning("payrail.breaker_without_redis", error=type(error).__name__)
            return default


def _to_milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1000))
