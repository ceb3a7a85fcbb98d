"""Takes back rows whose worker is gone, and ends rows past their `not_after`."""

import structlog
from sqlalchemy import text

from app.core.jobs import personal_kinds
from app.core.outbox.failure_hooks import FAILED_STATES, FailedRow, notify_failures
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction

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
