"""The jobs this program knows: `@job("accounts.mail_code", Delivery.AT_LEAST_ONCE, critical=True)`.

    def mail_code(run: Run, *, user_id: str) -> None:
        letter = …                    # reads; no transaction is open
        run.fence()                   # the last moment at which nothing has happened yet
        send(letter, message_id=run.key)

What a job raises decides what becomes of its row:

    Permanent    dead at once                      Postpone   later, and it does not count as a try
    Transient    again, after a growing pause      Ambiguous  at most once: uncertain; otherwise again
    anything else counts as Transient before the fence and as Ambiguous after it
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from app.core.session import ReadOrWriteSession
from app.core.transaction import after_commit

DEFAULT_TRIES = 12
LONGEST = timedelta(minutes=5)


class Delivery(StrEnum):
    """How often the effect may happen; docs/decisions/outbox.md says when to use which."""

    AT_MOST_ONCE = "A"
    AT_LEAST_ONCE = "B"
    LOCAL = "C"


class JobError(Exception):
    """What a job raises on purpose, with a reason for the operator (never a secret)."""


class Permanent(JobError):
    """It can never succeed."""


class Transient(JobError):
    """Nothing happened, or the other side said no; a later try may succeed."""


class Ambiguous(JobError):
    """It was sent, and no answer says whether it arrived."""


class Postpone(JobError):
    """Not yet: run again after `delay`."""

    def __init__(self, delay: timedelta, reason: str = "postponed") -> None:
        super().__init__(reason)
        self.delay = delay


class LostLease(JobError):
    """Somebody else has taken the row over. Stop; whatever you write now is not wanted."""


class UnknownKind(LookupError):
    """No job of that kind is registered."""


class LeaseProtocol(Protocol):
    """The lease on the row behind a run; `app.core.outbox.lease` has the real one."""

    def fence(self) -> None: ...
    def hold_in(self, session: ReadOrWriteSession) -> None: ...
    def done_in(self, session: ReadOrWriteSession) -> None: ...


@dataclass
class Run:
    """One try at a row. `key` is the same on every try: it makes Message-IDs and references."""

    id: int
    key: str
    attempt: int
    lease: LeaseProtocol
    fenced: bool = False
    ended: bool = False

    def fence(self) -> None:
        """Call immediately before the point of no return. Raises LostLease when the row is no longer ours."""
        self.lease.fence()
        self.fenced = True

    def hold_in(self, session: ReadOrWriteSession) -> None:
        """Renews the lease within an open transaction: for work in pages. Raises LostLease."""
        self.lease.hold_in(session)

    def done_in(self, session: ReadOrWriteSession) -> None:
        """Ends a LOCAL job in the transaction that has its effect. Raises LostLease: let it roll back."""
        self.lease.done_in(session)
        after_commit(session, self._end)

    def _end(self) -> None:
        self.ended = True


@dataclass(frozen=True, kw_only=True)
class Job:
    kind: str
    delivery: Delivery
    call: Callable[..., None]
    critical: bool
    bulk: bool
    max_attempts: int
    time_limit: timedelta | None
    every: timedelta | None
    ended: str | None
    to_others: bool
    personal: bool


F = TypeVar("F", bound=Callable[..., None])
_registry: dict[str, Job] = {}


def job(
    kind: str,
    delivery: Delivery,
    *,
    critical: bool = False,
    bulk: bool = False,
    max_attempts: int = DEFAULT_TRIES,
    time_limit: timedelta | None = None,
    every: timedelta | None = None,
    ended: str | None = None,
    to_others: bool = False,
    personal: bool = False,
) -> Callable[[F], F]:
    """Registers a function `(run, **payload)` for rows of `kind`.

    `critical` rows go first, and go even while Redis is away; `bulk` ones go when nothing else is due. With
    `every` the relay enqueues the job that often. A job with a longer `time_limit` than the usual 20 s holds its
    lease longer by as much. `ended` names the job that is told, in the same commit, of rows that end dead or
    uncertain (see `app.core.outbox.failure_hooks`). `to_others` marks mail that an account has sent to other people (see
    `app.accounts.outgoing_mail`). `personal` marks a payload that tells who somebody was: it is emptied when the row
    ends, so a retry of a dead row finds nothing.
    """
    if critical and bulk:
        raise ValueError(f"{kind}: nothing is both critical and bulk")
    if time_limit and time_limit > LONGEST:
        raise ValueError(f"{kind}: split it into pages; nothing may take longer than {LONGEST}")

    def register(call: F) -> F:
        if kind in _registry:
            raise TypeError(f"two jobs are called {kind}")
        _registry[kind] = Job(
            kind=kind,
            delivery=delivery,
            call=call,
            critical=critical,
            bulk=bulk,
            max_attempts=max_attempts,
            time_limit=time_limit,
            every=every,
            ended=ended,
            to_others=to_others,
            personal=personal,
        )
        return call

    return register


def get_job(kind: str) -> Job:
    """The job of that kind. Raises UnknownKind."""
    if kind not in _registry:
        raise UnknownKind(kind)
    return _registry[kind]


def list_jobs() -> list[Job]:
    """All jobs."""
    return list(_registry.values())


def personal_kinds() -> list[str]:
    """The kinds whose payload is emptied when a row ends."""
    return [item.kind for item in list_jobs() if item.personal]


def list_recurring_jobs() -> list[Job]:
    """The jobs that have `every`."""
    return [item for item in list_jobs() if item.every]
