"""Which reads may be answered by a replica. Domains say what a read bears; where it goes is decided here.

    @may_be_stale("events")
    def page(id): …            # up to DATABASE_REPLICA_STALENESS old; never older than a change made on this machine

    @as_of_now
    def as_json(event, …): …   # a report: from the replica, once that shows all that is committed now

Without DATABASE_REPLICA_URL both do nothing. Anyone who is signed in reads from the primary what may be stale.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import g

from app.core import cache_invalidation
from app.core.db import read_from
from app.core.replica import get_replica

P = ParamSpec("P")
Result = TypeVar("Result")


def may_be_stale(*topics: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """For a function whose reads may be a little old, but show every change of these topics that was made here."""

    def decorate(read: Callable[P, Result]) -> Callable[P, Result]:
        @wraps(read)
        def somewhere(*args: P.args, **kwargs: P.kwargs) -> Result:
            replica = get_replica()
            if (
                replica is None
                or g.get("signed_in")
                or not replica.is_fresh_since(cache_invalidation.changed_at(*topics))
            ):
                return read(*args, **kwargs)
            with read_from(replica):
                return read(*args, **kwargs)

        return somewhere

    return decorate


def as_of_now(read: Callable[P, Result]) -> Callable[P, Result]:
    """For a function that reads much: it shows all that was committed before it was called, wherever it reads."""

    @wraps(read)
    def somewhere(*args: P.args, **kwargs: P.kwargs) -> Result:
        replica = get_replica()
        if replica is None or not replica.is_caught_up():
            return read(*args, **kwargs)
        with read_from(replica):
            return read(*args, **kwargs)

    return somewhere
