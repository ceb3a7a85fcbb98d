"""The registry of jobs.

    @job("accounts.mail_code", Delivery.AT_LEAST_ONCE, critical=True)
    def mail_code(run: Run, *, user_id: str) -> None:
        message = …                   # reads; no transaction is open
        run.fence()                   # from here on the effect may have happened
        send(message, message_id=run.key)

The error that a job raises decides what happens to its row:

    Permanent    dead                              Postpone   later, and it does not count as an attempt
    Transient    again, after a growing delay      Ambiguous  at most once: uncertain; otherwise again
    any other error counts as Transient before the fence and as Ambiguous after it
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from app.core.db import ReadOrWriteSession
from app.core.transaction import after_commit

DEFAULT_ATTEMPTS = 12
MAX_TIME_LIMIT = timedelta(minutes=5)


class Delivery(StrEnum):
    """How often the effect of a job may happen; docs/decisions/outbox.md says which one to use when."""

    AT_MOST_ONCE = "A"
    AT_LEAST_ONCE = "B"
    LOCAL = "C"


class JobError(Exception):
    """An error that a job raises on purpose, with a reason for the operator (never a secret)."""


class Permanent(JobError):
    """The job can never succeed."""


class Transient(JobError):
    """The effect did not happen; a later attempt may succeed."""


class Ambiguous(JobError):
    """The job sent something and got no response that says whether it arrived."""


class Postpone(JobError):
    """The job must run again after `delay`."""

    def __init__(self, delay: timedelta, reason: str = "postponed") -> None:
        super().__init__(reason)
        self.delay = delay


class LostLease(JobError):
    """Another worker has the row now. Stop and write nothing."""


class UnknownKind(LookupError):
    """No job of that kind is registered."""


class LeaseProtocol(Protocol):
    """The lease on the row of a run; `app.core.outbox.lease` has the implementation."""

    def fence(self) -> None: ...
    def hold_in(self, session: ReadOrWriteSession) -> None: ...
    def progress_in(self, session: ReadOrWriteSession) -> None: ...
    def done_in(self, session: ReadOrWriteSession) -> None: ...


@dataclass
class Run:
    """One attempt at a row. `key` is the same on every attempt: Message-IDs and references are made of it."""

    id: int
    key: str
    attempt: int
    lease: LeaseProtocol
    fenced: bool = False
    ended: bool = False

    def fence(self) -> None:
        """Record that the effect is about to happen; call it immediately before. Raises LostLease."""
        self.lease.fence()
        self.fenced = True

    def hold_in(self, session: ReadOrWriteSession) -> None:
        """Renew the lease in an open transaction, for jobs that work in pages. Raises LostLease."""
        self.lease.hold_in(session)

    def progress_in(self, session: ReadOrWriteSession) -> None:
        """Renew the lease in the transaction of a page that no later attempt repeats, and forget earlier attempts.

        So a job is given up after five kills without progress, however often it was killed. Raises LostLease.
        """
        self.lease.progress_in(session)

    def done_in(self, session: ReadOrWriteSession) -> None:
        """End a LOCAL job in the transaction that has its effect. Raises LostLease: let it roll back."""
        self.lease.done_in(session)
        after_commit(session, self._mark_ended)

    def _mark_ended(self) -> None:
        self.ended = True


@dataclass(frozen=True, kw_only=True)
class Job:
    """A registered job; `job()` explains the fields."""

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
    max_attempts: int = DEFAULT_ATTEMPTS,
    time_limit: timedelta | None = None,
    every: timedelta | None = None,
    ended: str | None = None,
    to_others: bool = False,
    personal: bool = False,
) -> Callable[[F], F]:
    """Register a function `(run, **payload)` for rows of `kind`.

    `critical` rows run first, and also while Redis is away; `bulk` rows run when nothing else is due. With `every` the
    relay enqueues the job that often. A job with a longer `time_limit` than the usual 20 s has a lease that is longer
    by the difference. `ended` names the job that gets the rows which end dead or uncertain, enqueued in the commit that
    ends them (`app.core.outbox.failure_hooks`). `to_others` marks mail that an account sends to other people
    (`app.accounts.outgoing_mail`). `personal` marks a payload with personal data: it is emptied when the row ends, so
    a retry of a dead row does nothing.
    """
    if critical and bulk:
        raise ValueError(f"{kind}: a job is either critical or bulk")
    if time_limit and time_limit > MAX_TIME_LIMIT:
        raise ValueError(f"{kind}: split it into pages; a job may take {MAX_TIME_LIMIT} at most")

    def register(call: F) -> F:
        if kind in _registry:
            raise TypeError(f"two jobs are named {kind}")
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
    """Return the job of that kind. Raises UnknownKind."""
    if kind not in _registry:
        raise UnknownKind(kind)
    return _registry[kind]


def list_jobs() -> list[Job]:
    """Return all jobs."""
    return list(_registry.values())


def personal_kinds() -> list[str]:
    """Return the kinds whose payload is emptied when a row ends."""
    return [registered.kind for registered in list_jobs() if registered.personal]


def list_recurring_jobs() -> list[Job]:
    """Return the jobs that have `every`."""
    return [registered for registered in list_jobs() if registered.every]
