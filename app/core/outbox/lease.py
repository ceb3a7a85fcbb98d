"""Claim, fence, settle: every step is one conditional UPDATE in a transaction of its own.

A step that changes no row means that somebody else owns the work now; anyone who sees that stops.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.core.jobs import Delivery, LostLease, UnknownKind, get_job, personal_kinds
from app.core.outbox import failure_hooks
from app.core.outbox.tuning import Tuning
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction

_RIPE = "state = 'ready' AND run_at <= now() AND (not_after IS NULL OR not_after > now())"
_NEXT = "SELECT id FROM outbox WHERE {rank} AND " + _RIPE + " ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED"
_CRITICAL = _NEXT.format(rank="critical AND NOT bulk")
_ORDINARY = _NEXT.format(rank="NOT critical AND NOT bulk")
_BULK = _NEXT.format(rank="NOT critical AND bulk")
_CLAIM = """
    WITH claimed AS (
        UPDATE outbox SET state = 'leased', lease_token = gen_random_uuid(), effect_at = NULL,
               lease_until = now() + make_interval(secs => :lease), attempts = attempts + 1
        WHERE id = {which} AND {ripe}
        RETURNING id, kind, class, dedupe_key, payload, attempts, postponed, max_attempts,
                  request_id, lease_token
    ), noted AS (
        INSERT INTO outbox_attempt (outbox_id, n, worker) SELECT id, attempts, :worker FROM claimed
    )
    SELECT * FROM claimed
"""
CLAIM_ONE = text(_CLAIM.format(which=":id", ripe=_RIPE))
CLAIM_ANY = text(_CLAIM.format(which=f"COALESCE(({_CRITICAL}), ({_ORDINARY}), ({_BULK}))", ripe=_RIPE))
CLAIM_CRITICAL = text(_CLAIM.format(which=f"({_CRITICAL})", ripe=_RIPE))

HOLD = text("""
    UPDATE outbox SET lease_until = now() + make_interval(secs => :lease),
           effect_at = CASE WHEN :fence THEN now() ELSE effect_at END
    WHERE id = :id AND lease_token = :token AND state = 'leased' RETURNING id
""")
SETTLE = text(
    """
    WITH settled AS (
        UPDATE outbox SET lease_token = NULL, lease_until = NULL, last_error = :error,
               postponed = postponed + :postponed,
               run_at = CASE WHEN :state = 'ready' THEN now() + make_interval(secs => :delay) ELSE run_at END,
               done_at = CASE WHEN :state = 'ready' THEN NULL ELSE now() END,
               payload = CASE WHEN :personal AND {next} <> 'ready' THEN '{{}}'::jsonb ELSE payload END,
               state = {next}
        WHERE id = :id AND lease_token = :token AND state = 'leased' RETURNING id, attempts, state
    )
    UPDATE outbox_attempt SET ended = now(), outcome = :outcome
    FROM settled WHERE outbox_id = settled.id AND n = settled.attempts RETURNING settled.state
""".format(
        next="""
    CASE WHEN :state = 'ready' AND not_after <= now() + make_interval(secs => :delay) THEN 'dead' ELSE :state END"""
    )
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What becomes of a row after a try."""

    state: str
    outcome: str
    error: str | None = None
    delay: float = 0
    postponed: int = 0


DONE = Outcome(state="done", outcome="done")


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A claimed row, ours until the lease ends."""

    id: int
    kind: str
    delivery: Delivery
    key: str
    payload: dict[str, Any] = field(repr=False)
    attempt: int
    tries: int
    max_attempts: int
    request_id: str
    token: UUID = field(repr=False)
    seconds: float

    def fence(self) -> None:
        """Notes that the effect is about to happen, in a commit of its own. Raises LostLease."""
        with transaction() as session:
            self._hold(session, fence=True)

    def hold_in(self, session: ReadOrWriteSession) -> None:
        """Renews the lease in the caller's transaction. Raises LostLease."""
        self._hold(session, fence=False)

    def done_in(self, session: ReadOrWriteSession) -> None:
        """Ends the row in the caller's transaction. Raises LostLease."""
        if self._settle(session, DONE) is None:
            raise LostLease(self.kind)

    def settle(self, verdict: Outcome) -> bool:
        """Ends the row, or makes it ready again; False when it was somebody else's by now."""
        with transaction() as session:
            state = self._settle(session, verdict)
            if state in failure_hooks.BAD:
                failure_hooks.notify_failures(
                    [failure_hooks.FailedRow(self.kind, state, verdict.error or "", self.payload)]
                )
        return state is not None

    def _hold(self, session: ReadOrWriteSession, *, fence: bool) -> None:
        values = {"id": self.id, "token": self.token, "lease": self.seconds, "fence": fence}
        if session.execute(HOLD, values).first() is None:
            raise LostLease(self.kind)

    def _settle(self, session: ReadOrWriteSession, verdict: Outcome) -> str | None:
        """The state that the row is in now; None when it was somebody else's."""
        values = {"id": self.id, "token": self.token, "personal": self.kind in personal_kinds(), **vars(verdict)}
        state: str | None = session.execute(SETTLE, values).scalar()
        return state


def lease_next(outbox_id: int | None, *, worker: str, pace: Tuning, only_critical: bool = False) -> Lease | None:
    """A lease on that row, or on whichever is due next; None when there is nothing to do."""
    statement = CLAIM_CRITICAL if only_critical else CLAIM_ANY
    values: dict[str, Any] = {"worker": worker, "lease": pace.lease}
    if outbox_id is not None:
        statement, values = CLAIM_ONE, {**values, "id": outbox_id}
    with transaction() as session:
        row = session.execute(statement, values).mappings().first()
        if row is None:
            return None
        lease = _lease(row, pace)
        if lease.seconds > pace.lease:
            lease.hold_in(session)
        return lease


def _lease(row: Any, pace: Tuning) -> Lease:
    return Lease(
        id=row["id"],
        kind=row["kind"],
        delivery=Delivery(row["class"]),
        key=row["dedupe_key"] or f"outbox-{row['id']}",
        payload=row["payload"],
        attempt=row["attempts"],
        tries=row["attempts"] - row["postponed"],
        max_attempts=row["max_attempts"],
        request_id=row["request_id"] or "",
        token=row["lease_token"],
        seconds=_seconds(row["kind"], pace),
    )


def _seconds(kind: str, pace: Tuning) -> float:
    """A job that may take longer holds its row longer by as much: what is left after its end is the same for all."""
    try:
        limit = get_job(kind).time_limit
    except UnknownKind:
        return pace.lease
    return pace.lease + max(0.0, limit.total_seconds() - pace.time_limit) if limit else pace.lease
