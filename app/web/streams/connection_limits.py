"""How many streams there may be: five for an account, fifty for a client network, two hundred for a host; whichever
process serves them. The last forty of a host go to newcomers: the first stream of an account, and at most five of a
network that has so few. So a crowd from a few networks leaves room for everybody else. An IPv6 client counts with its
/64 and, with twice as many, with the /48 around it.

A place is a member of four sorted sets in Redis, with the time until which it counts; the process that serves the
stream renews it. With Redis away a process counts its own. A process has a limit of its own as well (`keep_streams_open`).
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
from app.core.redis import connected
from app.core.throttle import Network

MAX_PER_ACCOUNT, MAX_PER_NETWORK, MAX_PER_HOST = 5, 50, 200
RESERVED_FOR_NEWCOMERS, MAX_NEWCOMERS_PER_NETWORK = 40, 5
WIDER_NETWORK_FACTOR = 2
"""How many networks' worth of places the network around one may have."""
SLOT_SECONDS = 45.0
HOSTNAME = socket.gethostname()
HOST_KEY = f"streams:host:{HOSTNAME}"
log = structlog.get_logger(__name__)


class TooManyStreams(Throttled):
    number, code = 42987, "TOO_MANY_STREAMS"
    message = (
        f"An account may have {MAX_PER_ACCOUNT} streams open, and fewer where places are few; close one, or wait for the"
        " seconds in Retry-After."
    )


class TooManyStreamsFromNetwork(Throttled):
    number, code = 42933, "TOO_MANY_STREAMS_FROM_NETWORK"
    message = f"One network may have {MAX_PER_NETWORK} streams open; close one, or wait for the seconds in Retry-After."


class StreamsFull(Unavailable):
    number, code = 50387, "STREAMS_FULL"
    message = "No more streams fit on this server now; try again after the seconds in Retry-After."


@dataclass(frozen=True)
class StreamSlot:
    """A place that is taken."""

    name: str
    account_id: str
    network: str

    @property
    def wider_network(self) -> str:
        """The network around that of the client; for IPv4 the same."""
        wider_network = self.network.wider if isinstance(self.network, Network) else None
        return self.network if wider_network is None else wider_network

    @property
    def redis_keys(self) -> tuple[str, str, str, str]:
        """The sets that count it: those of its account, of its network and the wider one on this host, and of the
        host."""
        networks = (f"streams:network:{HOSTNAME}:{self.network}", f"streams:wider:{HOSTNAME}:{self.wider_network}")
        return f"streams:account:{self.account_id}", *networks, HOST_KEY


class StreamCounts(NamedTuple):
    """How many places are taken by an account, by a network, by the wider one around it and on the host, the one that
    is asked for included."""

    account: int
    network: int
    wider_network: int
    host: int

    def check(self) -> None:
        """Raises TooManyStreams, TooManyStreamsFromNetwork, StreamsFull when they are too many."""
        if self.account > MAX_PER_ACCOUNT:
            raise TooManyStreams(retry_after=5)
        if self.network > MAX_PER_NETWORK or self.wider_network > WIDER_NETWORK_FACTOR * MAX_PER_NETWORK:
            raise TooManyStreamsFromNetwork(retry_after=5)
        is_small_network = (
            self.network <= MAX_NEWCOMERS_PER_NETWORK
            and self.wider_network <= WIDER_NETWORK_FACTOR * MAX_NEWCOMERS_PER_NETWORK
        )
        is_newcomer = self.account == 1 and is_small_network
        if self.host > (MAX_PER_HOST if is_newcomer else MAX_PER_HOST - RESERVED_FOR_NEWCOMERS):
            raise StreamsFull(retry_after=10)


class StreamSlots:
    """The places that this process has taken. Any thread may ask."""

    def __init__(self, redis_url: str, max_per_process: int | None = None) -> None:
        self.redis = connected(redis_url, seconds=0.2)
        self.max_per_process = max_per_process
        self.slots_by_name: dict[str, StreamSlot] = {}

    def acquire(self, account_id: str, network: str) -> str:
        """A place for one more stream of the account, which comes from that client network.

        Raises TooManyStreams, TooManyStreamsFromNetwork, StreamsFull.
        """
        slot = StreamSlot(f"{HOSTNAME}:{os.getpid()}:{secrets.token_hex(8)}", account_id, network)
        self.slots_by_name[slot.name] = slot
        try:
            self._check_limits(slot)
        except BaseException:
            self.release(slot.name)
            raise
        return slot.name

    def release(self, name: str) -> None:
        """Gives a place back. Twice is once."""
        slot = self.slots_by_name.pop(name, None)
        if slot is not None:
            self._run_pipeline(lambda pipe: self._remove_slot(pipe, slot))

    def renew_all(self) -> None:
        """Says that all places are still in use."""
        slots = list(self.slots_by_name.values())
        if slots:
            self._run_pipeline(lambda pipe: [self._add_slot(pipe, slot) for slot in slots])

    def _check_limits(self, slot: StreamSlot) -> None:
        if self.max_per_process is not None:
            in_process = self._count_in_process(slot)
            if in_process.host > self.max_per_process:
                raise StreamsFull(retry_after=10)
            if in_process.host == self.max_per_process and in_process.account > 1:
                # The last place is for an account that has none: one account must not shut out all others.
                raise TooManyStreams(retry_after=10)
        counts = self._count_in_redis(slot)
        try:
            (counts or self._count_in_process(slot)).check()
        except (TooManyStreams, TooManyStreamsFromNetwork, StreamsFull):
            if counts is None or not self._release_dead_slots(slot):
                raise
            (self._count_in_redis(slot) or self._count_in_process(slot)).check()

    def _count_in_redis(self, slot: StreamSlot) -> StreamCounts | None:
        """The counts in Redis with this one; None when nobody can tell."""
        now = time.time()

        def queue_commands(pipe: Any) -> None:
            for key in slot.redis_keys:
                pipe.zremrangebyscore(key, 0, now)
            self._add_slot(pipe, slot)
            for key in slot.redis_keys:
                pipe.zcard(key)

        results = self._run_pipeline(queue_commands)
        return StreamCounts(*results[-len(slot.redis_keys) :]) if results else None

    def _count_in_process(self, slot: StreamSlot) -> StreamCounts:
        slots = list(self.slots_by_name.values())
        return StreamCounts(
            sum(other_slot.account_id == slot.account_id for other_slot in slots),
            sum(other_slot.network == slot.network for other_slot in slots),
            sum(other_slot.wider_network == slot.wider_network for other_slot in slots),
            len(slots),
        )

    def _release_dead_slots(self, slot: StreamSlot) -> bool:
        """Removes places of processes of this host that were killed."""
        has_released = False
        for key in slot.redis_keys:
            results = self._run_pipeline(lambda pipe, key=key: pipe.zrange(key, 0, -1)) or [[]]
            dead_names = [name for name in (member.decode() for member in results[0]) if _is_process_dead(name)]
            if dead_names:
                has_released = (
                    bool(self._run_pipeline(lambda pipe, key=key, dead_names=dead_names: pipe.zrem(key, *dead_names)))
                    or has_released
                )
        return has_released

    @staticmethod
    def _add_slot(pipe: Any, slot: StreamSlot) -> None:
        for key in slot.redis_keys:
            pipe.zadd(key, {slot.name: time.time() + SLOT_SECONDS})
            pipe.expire(key, int(SLOT_SECONDS) + 5)

    @staticmethod
    def _remove_slot(pipe: Any, slot: StreamSlot) -> None:
        for key in slot.redis_keys:
            pipe.zrem(key, slot.name)

    def _run_pipeline(self, queue_commands: Any) -> list[Any] | None:
        try:
            with self.redis.pipeline(transaction=True) as pipe:
                queue_commands(pipe)
                return list(pipe.execute())
        except RedisError as error:
            log.warning("streams.no_redis", error=type(error).__name__)
            return None


def _is_process_dead(name: str) -> bool:
    host, _, pid = name.rpartition(":")[0].rpartition(":")
    if host != HOSTNAME or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
