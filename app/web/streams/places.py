"""How many streams there may be: five for an account, fifty for a client network, two hundred for a host; whichever
process serves them. The last forty of a host go to newcomers: the first stream of an account, and at most five of a
network that has so few. So a crowd from a few networks leaves room for everybody else. An IPv6 client counts with its
/64 and, with twice as many, with the /48 around it.

A place is a member of four sorted sets in Redis, with the time until which it counts; the process that serves the
stream renews it. With Redis away a process counts its own.
"""

import os
import secrets
import socket
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog
from redis.exceptions import RedisError

from app.core.errors import Throttled, Unavailable
from app.core.networks import Network
from app.core.redis import connected

PER_ACCOUNT, PER_NETWORK, PER_HOST = 5, 50, 200
KEPT_FREE, NEWCOMERS_PER_NETWORK = 40, 5
WIDER = 2
"""How many networks' worth of places the network around one may have."""
LASTS = 45.0
HOST = socket.gethostname()
ON_HOST = f"streams:host:{HOST}"
log = structlog.get_logger(__name__)


class TooManyStreams(Throttled):
    number, code = 42987, "TOO_MANY_STREAMS"
    message = f"An account may have {PER_ACCOUNT} streams open; close one, or wait for the seconds in Retry-After."


class TooManyStreamsFromNetwork(Throttled):
    number, code = 42933, "TOO_MANY_STREAMS_FROM_NETWORK"
    message = f"One network may have {PER_NETWORK} streams open; close one, or wait for the seconds in Retry-After."


class StreamsFull(Unavailable):
    number, code = 50387, "STREAMS_FULL"
    message = "No more streams fit on this server now; try again after the seconds in Retry-After."


@dataclass(frozen=True)
class Place:
    """A place that is taken."""

    name: str
    account: str
    network: str

    @property
    def wider(self) -> str:
        """The network around that of the client; for IPv4 the same."""
        wider = self.network.wider if isinstance(self.network, Network) else None
        return self.network if wider is None else wider

    @property
    def keys(self) -> tuple[str, str, str, str]:
        """The sets that count it: those of its account, of its network and the wider one on this host, and of the
        host."""
        networks = (f"streams:network:{HOST}:{self.network}", f"streams:wider:{HOST}:{self.wider}")
        return f"streams:account:{self.account}", *networks, ON_HOST


class Counts(NamedTuple):
    """How many places are taken by an account, by a network, by the wider one around it and on the host, the one that
    is asked for included."""

    account: int
    network: int
    wider: int
    host: int

    def check(self) -> None:
        """Raises TooManyStreams, TooManyStreamsFromNetwork, StreamsFull when they are too many."""
        if self.account > PER_ACCOUNT:
            raise TooManyStreams(retry_after=5)
        if self.network > PER_NETWORK or self.wider > WIDER * PER_NETWORK:
            raise TooManyStreamsFromNetwork(retry_after=5)
        few = self.network <= NEWCOMERS_PER_NETWORK and self.wider <= WIDER * NEWCOMERS_PER_NETWORK
        newcomer = self.account == 1 and few
        if self.host > (PER_HOST if newcomer else PER_HOST - KEPT_FREE):
            raise StreamsFull(retry_after=10)


class Places:
    """The places that this process has taken. Any thread may ask."""

    def __init__(self, redis_url: str) -> None:
        self.redis = connected(redis_url, seconds=0.2)
        self.taken: dict[str, Place] = {}

    def take(self, account: str, network: str) -> str:
        """A place for one more stream of the account, which comes from that client network.

        Raises TooManyStreams, TooManyStreamsFromNetwork, StreamsFull.
        """
        place = Place(f"{HOST}:{os.getpid()}:{secrets.token_hex(8)}", account, network)
        self.taken[place.name] = place
        try:
            self._check(place)
        except BaseException:
            self.leave(place.name)
            raise
        return place.name

    def leave(self, name: str) -> None:
        """Gives a place back. Twice is once."""
        place = self.taken.pop(name, None)
        if place is not None:
            self._tried(lambda pipe: self._removed(pipe, place))

    def leave_all(self) -> None:
        """Gives back what this process holds."""
        held, self.taken = list(self.taken.values()), {}
        if held:
            self._tried(lambda pipe: [self._removed(pipe, place) for place in held])

    def renew(self) -> None:
        """Says that all places are still in use."""
        held = list(self.taken.values())
        if held:
            self._tried(lambda pipe: [self._added(pipe, place) for place in held])

    def _check(self, place: Place) -> None:
        counts = self._ask(place)
        try:
            (counts or self._counted_here(place)).check()
        except (TooManyStreams, TooManyStreamsFromNetwork, StreamsFull):
            if counts is None or not self._forget_the_dead(place):
                raise
            (self._ask(place) or self._counted_here(place)).check()

    def _ask(self, place: Place) -> Counts | None:
        """The counts in Redis with this one; None when nobody can tell."""
        now = time.time()

        def asked(pipe: Any) -> None:
            for key in place.keys:
                pipe.zremrangebyscore(key, 0, now)
            self._added(pipe, place)
            for key in place.keys:
                pipe.zcard(key)

        found = self._tried(asked)
        return Counts(*found[-len(place.keys) :]) if found else None

    def _counted_here(self, place: Place) -> Counts:
        here = list(self.taken.values())
        return Counts(
            sum(item.account == place.account for item in here),
            sum(item.network == place.network for item in here),
            sum(item.wider == place.wider for item in here),
            len(here),
        )

    def _forget_the_dead(self, place: Place) -> bool:
        """Removes places of processes of this host that were killed."""
        gone = False
        for key in place.keys:
            found = self._tried(lambda pipe, key=key: pipe.zrange(key, 0, -1)) or [[]]
            dead = [name for name in (item.decode() for item in found[0]) if _dead(name)]
            if dead:
                gone = bool(self._tried(lambda pipe, key=key, dead=dead: pipe.zrem(key, *dead))) or gone
        return gone

    @staticmethod
    def _added(pipe: Any, place: Place) -> None:
        for key in place.keys:
            pipe.zadd(key, {place.name: time.time() + LASTS})
            pipe.expire(key, int(LASTS) + 5)

    @staticmethod
    def _removed(pipe: Any, place: Place) -> None:
        for key in place.keys:
            pipe.zrem(key, place.name)

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
