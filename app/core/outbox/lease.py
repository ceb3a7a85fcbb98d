"""Leases on rows. Each step is one conditional UPDATE in its own transaction.

A step that changes no row means that another worker has the job now; the caller stops. `expire_leases` takes back the
rows of workers that ended, and ends rows past their `not_after`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import text

from app.core.db import ReadOrWriteSession
from app.core.jobs import Delivery, LostLease, UnknownKind, get_job, personal_kinds
from app.core.outbox.failure_hooks import FAILED_STATES, FailedRow, notify_failures
from app.core.outbox.models import JsonObject
from app.core.outbox.tuning import Tuning
from app.core.transaction import after_commit, transaction

_IS_DUE = "state = 'ready' AND run_at <= now() AND (not_after IS NULL OR not_after > now())"
_NEXT = "SELECT id FROM outbox WHERE {priority} AND " + _IS_DUE + " ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED"
_CRITICAL = _NEXT.format(priority="critical AND NOT bulk")
_ORDINARY = _NEXT.format(priority="NOT critical AND NOT bulk")
_BULK = _NEXT.format(priority="NOT critical AND bulk")
_LEASE = """
    WITH leased AS (
        UPDATE outbox SET state = 'leased', lease_token = gen_random_uuid(), effect_at = NULL,
               lease_until = now() + make_interval(secs => :lease), attempts = attempts + 1
        WHERE id = {chosen_id} AND {is_due}
        RETURNING id, kind, class, dedupe_key, payload, attempts, postponed, max_attempts, request_id, lease_token
    ), attempt AS (
        INSERT INTO outbox_attempt (outbox_id, n, worker) SELECT id, attempts, :worker FROM leased
    )
    SELECT * FROM leased
"""
LEASE_ONE = text(_LEASE.format(chosen_id=":id", is_due=_IS_DUE))
LEASE_ANY = text(_LEASE.format(chosen_id=f"COALESCE(({_CRITICAL}), ({_ORDINARY}), ({_BULK}))", is_due=_IS_DUE))
LEASE_CRITICAL = text(_LEASE.format(chosen_id=f"({_CRITICAL})", is_due=_IS_DUE))
EXTEND = text("""
    UPDATE outbox SET lease_until = now() + make_interval(secs => :lease),
           effect_at = CASE WHEN :fence THEN now() ELSE effect_at END,
           lost = CASE WHEN :progressed THEN 0 ELSE lost END,
           postponed = CASE WHEN :progressed THEN attempts - 1 ELSE postponed END
    WHERE id = :id AND lease_token = :token AND state = 'leased' RETURNING id
""")
RECORD_OUTCOME = text("""
    WITH settled AS (
        UPDATE outbox SET lease_token = NULL, lease_until = NULL, last_error = :error,
               postponed = postponed + :postponed,
               run_at = CASE WHEN :state = 'ready' THEN now() + make_interval(secs => :delay) ELSE run_at END,
               done_at = CASE WHEN :state = 'ready' THEN NULL ELSE now() END,
               payload = CASE WHEN :personal AND (:state <> 'ready' OR not_after <= now() + make_interval(secs => :delay))
                              THEN '{}'::jsonb ELSE payload END,
               state = CASE WHEN :state = 'ready' AND not_after <= now() + make_interval(secs => :delay)
                            THEN 'dead' ELSE :state END
        WHERE id = :id AND lease_token = :token AND state = 'leased' RETURNING id, attempts, state
    )
    UPDATE outbox_attempt SET ended = now(), outcome = :outcome
    FROM settled WHERE outbox_id = settled.id AND n = settled.attempts RETURNING settled.state
""")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What happens to a row after an attempt; `delay` in seconds."""

    state: str
    outcome: str
    error: str | None = None
    delay: float = 0
    postponed: int = 0


DONE = Outcome(state="done", outcome="done")


class LeasedRow(NamedTuple):
    """The columns that the LEASE statements return."""

    id: int
    kind: str
    delivery: str
    dedupe_key: str | None
    payload: JsonObject
    attempts: int
    postponed: int
    max_attempts: int
    request_id: str | None
    lease_token: UUID


@dataclass(kw_only=True)
class Lease:
    """A row that this process may work on until the lease ends. `tries` counts since the last progress."""

    id: int
    kind: str
    delivery: Delivery
    key: str
    payload: JsonObject = field(repr=False)
    attempt: int
    tries: int
    max_attempts: int
    request_id: str
    token: UUID = field(repr=False)
    seconds: float

    def fence(self) -> None:
        """Record in a commit of its own that the effect is about to happen. Raises LostLease."""
        with transaction() as session:
            self._extend(session, fence=True)

    def hold_in(self, session: ReadOrWriteSession) -> None:
        """Renew the lease in the caller's transaction. Raises LostLease."""
        self._extend(session)

    def progress_in(self, session: ReadOrWriteSession) -> None:
        """Renew the lease in the caller's transaction and forget the attempts before this one. Raises LostLease."""
        self._extend(session, progressed=True)
        after_commit(session, self._count_from_one)

    def done_in(self, session: ReadOrWriteSession) -> None:
        """End the row in the caller's transaction. Raises LostLease."""
        if self._record(session, DONE) is None:
            raise LostLease(self.kind)

    def settle(self, outcome: Outcome) -> bool:
        """End the row or make it ready again; False when another worker has the row by now."""
        with transaction() as session:
            state = self._record(session, outcome)
            if state in FAILED_STATES:
                notify_failures([FailedRow(self.kind, state, outcome.error or "", self.payload)])
        return state is not None

    def _count_from_one(self) -> None:
        self.tries = 1

    def _extend(self, session: ReadOrWriteSession, *, fence: bool = False, progressed: bool = False) -> None:
        params = {
            "id": self.id,
            "token": self.token,
            "lease": self.seconds,
            "fence": fence,
            "progressed": progressed,
        }
        if session.execute(EXTEND, params).first() is None:
            raise LostLease(self.kind)

    def _record(self, session: ReadOrWriteSession, outcome: Outcome) -> str | None:
        """Return the new state of the row; None when another worker has it."""
        params = {"id": self.id, "token": self.token, "personal": self.kind in personal_kinds(), **vars(outcome)}
        state: str | None = session.execute(RECORD_OUTCOME, params).scalar()
        return state


def lease_next(outbox_id: int | None, *, worker: str, tuning: Tuning, only_critical: bool = False) -> Lease | None:
    """Lease that row, or the row that is due next; None when there is none."""
    statement = LEASE_CRITICAL if only_critical else LEASE_ANY
    params: dict[str, object] = {"worker": worker, "lease": tuning.lease}
    if outbox_id is not None:
        statement, params = LEASE_ONE, {**params, "id": outbox_id}
    with transaction() as session:
        row = session.execute(statement, params).first()
        if row is None:
            return None
        lease = _build_lease(LeasedRow(*row), tuning)
        if lease.seconds > tuning.lease:
            lease.hold_in(session)
        return lease


def _build_lease(row: LeasedRow, tuning: Tuning) -> Lease:
    return Lease(
        id=row.id,
        kind=row.kind,
        delivery=Delivery(row.delivery),
        key=row.dedupe_key or f"outbox-{row.id}",
        payload=row.payload,
        attempt=row.attempts,
        tries=row.attempts - row.postponed,
        max_attempts=row.max_attempts,
        request_id=row.request_id or "",
        token=row.lease_token,
        seconds=_lease_seconds(row.kind, tuning),
    )


def _lease_seconds(kind: str, tuning: Tuning) -> float:
    """Return the length of a lease: longer for a job with a longer time limit, by the difference of the limits."""
    try:
        limit = get_job(kind).time_limit
    except UnknownKind:
        return tuning.lease
    return tuning.lease + max(0.0, limit.total_seconds() - tuning.time_limit) if limit else tuning.lease


ADVISORY_LOCK = 7_161_001
PAGE_SIZE = 500
TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(:lock)")
# A row of class A (at most once) whose effect may have happened is uncertain; all others may run again.
EXPIRE_LEASES = text("""
    WITH expired AS MATERIALIZED (
        SELECT id, class, effect_at, lost, attempts, postponed, max_attempts
          FROM outbox WHERE state = 'leased' AND lease_until < now()
        ORDER BY lease_until LIMIT :page_size FOR UPDATE SKIP LOCKED
    ), decided AS (
        SELECT id, CASE WHEN class = 'A' AND effect_at IS NOT NULL THEN 'uncertain'
                        WHEN lost + 1 >= :max_lost OR attempts - postponed >= max_attempts THEN 'dead'
                        ELSE 'ready' END AS next_state
          FROM expired
    ), reaped AS (
        UPDATE outbox SET lost = lost + 1, lease_token = NULL, lease_until = NULL, run_at = now(),
               last_error = 'the process that held it ended, attempt ' || attempts,
               done_at = CASE WHEN next_state = 'ready' THEN NULL ELSE now() END,
               payload = CASE WHEN kind = ANY(:personal) AND next_state <> 'ready' THEN '{}'::jsonb ELSE payload END,
               state = next_state
        FROM decided WHERE outbox.id = decided.id
        RETURNING outbox.id, kind, class, attempts, state, payload, last_error
    ), attempt AS (
        UPDATE outbox_attempt SET ended = now(), outcome = 'lost'
        FROM reaped WHERE outbox_id = reaped.id AND n = reaped.attempts
    )
    SELECT * FROM reaped
""")
END_OVERDUE = text("""
    UPDATE outbox SET state = 'dead', done_at = now(),
           payload = CASE WHEN kind = ANY(:personal) THEN '{}'::jsonb ELSE payload END,
           last_error = COALESCE(last_error || '; then ', '') || 'its time was over'
    WHERE state = 'ready' AND not_after <= now() RETURNING id, kind, class, attempts, state, payload, last_error
""")
log = structlog.get_logger(__name__)


def expire_leases(tuning: Tuning) -> int:
    """Take back expired leases, end overdue rows, and return how many. One process at a time does the work."""
    personal = personal_kinds()
    with transaction() as session:
        if not session.execute(TRY_LOCK, {"lock": ADVISORY_LOCK}).scalar():
            return 0
        params = {"page_size": PAGE_SIZE, "max_lost": tuning.max_lost, "personal": personal}
        rows = list(session.execute(EXPIRE_LEASES, params))
        rows += session.execute(END_OVERDUE, {"personal": personal})
        notify_failures(
            FailedRow(row.kind, row.state, row.last_error, row.payload) for row in rows if row.state in FAILED_STATES
        )
    for row in rows:
        log.warning("job.reaped", kind=row.kind, outbox_id=row.id, outcome=row.state, attempt=row.attempts)
    return len(rows)
