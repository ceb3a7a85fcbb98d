"""How many streams there may be: five for an account, two hundred for a host; whichever process serves them.

A place is a member of two sorted sets in Redis, with the time until which it counts; the process that serves the
stream renews it. With Redis away a process counts its own.
"""

import os
import secrets
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import structlog
from redis.exceptions import RedisError

from app.core.errors import Throttled, Unavailable
from app.core.redis import connected

PER_ACCOUNT, PER_HOST = 5, 200
LASTS = 45.0
HOST = socket.gethostname()
ON_HOST = f"streams:host:{HOST}"
log = structlog.get_logger(__name__)


class TooManyStreams(Throttled):
    number, code = 42987, "TOO_MANY_STREAMS"
    message = f"An account may have {PER_ACCOUNT} streams open; close one, or wait for the seconds in Retry-After."


class StreamsFull(Unavailable):
    number, code = 50387, "STREAMS_FULL"
    message = "No more streams fit on this server now; try again after the seconds in Retry-After."


@dataclass(frozen=True)
class Place:
    """A place that is taken."""

    name: str
    account: str

    @property
    def key(self) -> str:
        return f"streams:account:{self.account}"


class Places:
    """The places that this process has taken. Any thread may ask."""

    def __init__(self, redis_url: str) -> None:
        self.redis = connected(redis_url, seconds=0.2)
        self.taken: dict[str, Place] = {}

    def take(self, account: str) -> str:
        """A place for one more stream of the account. Raises TooManyStreams, StreamsFull."""
        place = Place(f"{HOST}:{os.getpid()}:{secrets.token_hex(8)}", account)
        self.taken[place.name] = place
        try:
            self._admit(*(self._counted(place) or self._counted_here(place)))
        except BaseException:
            self.leave(place.name)
            raise
        return place.name

    def leave(self, name: str) -> None:
        """Gives a place back. Twice is once."""
        place = self.taken.pop(name, None)
        if place is not None:
            self._tried(lambda pipe: self._removed(pipe, place.key, [name]))

    def leave_all(self) -> None:
        """Gives back what this process holds."""
        held, self.taken = list(self.taken.values()), {}
        if held:
            self._tried(lambda pipe: [self._removed(pipe, place.key, [place.name]) for place in held])

    def renew(self) -> None:
        """Says that all places are still in use."""
        held = list(self.taken.values())
        if held:
            self._tried(lambda pipe: [self._added(pipe, place) for place in held])

    def _counted(self, place: Place) -> tuple[int, int] | None:
        """How many the account and the host have with this one; None when nobody can tell."""
        found = self._ask(place)
        if found and (found[0] > PER_ACCOUNT or found[1] > PER_HOST) and self._forget_the_dead(place):
            found = self._ask(place)
        return found

    def _ask(self, place: Place) -> tuple[int, int] | None:
        now = time.time()

        def asked(pipe: Any) -> None:
            for key in (place.key, ON_HOST):
                pipe.zremrangebyscore(key, 0, now)
            self._added(pipe, place)
            pipe.zcard(place.key)
            pipe.zcard(ON_HOST)

        found = self._tried(asked)
        return (found[-2], found[-1]) if found else None

    def _counted_here(self, place: Place) -> tuple[int, int]:
        return sum(each.account == place.account for each in list(self.taken.values())), len(self.taken)

    @staticmethod
    def _admit(account: int, host: int) -> None:
        if account > PER_ACCOUNT:
            raise TooManyStreams(retry_after=5)
        if host > PER_HOST:
            raise StreamsFull(retry_after=10)

    def _forget_the_dead(self, place: Place) -> bool:
        """Removes places of processes of this host that were killed."""
        gone = False
        for key in (place.key, ON_HOST):
            found = self._tried(lambda pipe, key=key: pipe.zrange(key, 0, -1)) or [[]]
            dead = [name for name in (each.decode() for each in found[0]) if _dead(name)]
            if dead:
                gone = bool(self._tried(lambda pipe, key=key, dead=dead: pipe.zrem(key, *dead))) or gone
        return gone

    @staticmethod
    def _added(pipe: Any, place: Place) -> None:
        for key in (place.key, ON_HOST):
            pipe.zadd(key, {place.name: time.time() + LASTS})
            pipe.expire(key, int(LASTS) + 5)

    @staticmethod
    def _removed(pipe: Any, key: str, names: Iterable[str]) -> None:
        for each in (key, ON_HOST):
            pipe.zrem(each, *names)

    def _tried(self, say: Any) -> list[Any] | None:
        try:
            with self.redis.pipeline(transaction=True) as pipe:
                say(pipe)
                return list(pipe.execute())
        except RedisError as error:
            log.warning("streams.no_redis", error=type(error).__name__)
            return None


def _dead(name: str) -> bool:
    host, _, rest = name.rpartition(":")[0].rpartition(":")
    if host != HOST or not rest.isdigit():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
