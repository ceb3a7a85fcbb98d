"""Decorators for reads that a replica may run.

    @may_be_stale("events")
    def page(id): …            # up to DATABASE_REPLICA_STALENESS old, but with every change made on this machine

    @as_of_now
    def as_json(event, …): …   # a report: from the replica once it has all that is committed now

Without DATABASE_REPLICA_URL both do nothing. Reads of signed-in callers never go to a stale replica.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import g

from app.core import cache_invalidation
from app.core.db import read_from
from app.core.replica import Replica, get_replica

P = ParamSpec("P")
Result = TypeVar("Result")


def may_be_stale(*topics: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Let a function read slightly old data that includes every change of these topics made on this machine."""

    def is_usable(replica: Replica) -> bool:
        return not g.get("signed_in") and replica.is_fresh_since(cache_invalidation.changed_at(*topics))

    return lambda read: _route(read, is_usable)


def as_of_now(read: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function with large reads use a replica that has all that was committed before the call."""
    return _route(read, lambda replica: replica.is_caught_up())


def _route(read: Callable[P, Result], is_usable: Callable[[Replica], bool]) -> Callable[P, Result]:
    @wraps(read)
    def routed(*args: P.args, **kwargs: P.kwargs) -> Result:
        replica = get_replica()
        if replica is None or not is_usable(replica):
            return read(*args, **kwargs)
        with read_from(replica):
            return read(*args, **kwargs)

    return routed
