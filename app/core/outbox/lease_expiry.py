"""Takes rows back whose holder is gone, and ends those whose time is over."""

import structlog
from sqlalchemy import text

from app.core.jobs import personal_kinds
from app.core.outbox import failure_hooks
from app.core.outbox.tuning import Tuning
from app.core.transaction import transaction

LOCK = 7_161_001
PAGE = 500
ALONE = text("SELECT pg_try_advisory_xact_lock(:lock)")
# Only the row's own columns decide: at most once and perhaps sent is uncertain, all else may run again.
REAP = text(
    """
    WITH expired AS MATERIALIZED (
        SELECT id FROM outbox WHERE state = 'leased' AND lease_until < now()
        ORDER BY lease_until LIMIT :page FOR UPDATE SKIP LOCKED
    ), reaped AS (
        UPDATE outbox SET lost = lost + 1, lease_token = NULL, lease_until = NULL, run_at = now(),
               last_error = 'the process that held it ended, attempt ' || attempts,
               done_at = CASE WHEN {next} = 'ready' THEN NULL ELSE now() END,
               payload = CASE WHEN kind = ANY(:personal) AND {next} <> 'ready' THEN '{{}}'::jsonb ELSE payload END,
               state = {next}
        FROM expired WHERE outbox.id = expired.id
        RETURNING outbox.id, kind, class, attempts, state, payload, last_error
    ), noted AS (
        UPDATE outbox_attempt SET ended = now(), outcome = 'lost'
        FROM reaped WHERE outbox_id = reaped.id AND n = reaped.attempts
    )
    SELECT * FROM reaped
""".format(
        next="""
    CASE WHEN class = 'A' AND effect_at IS NOT NULL THEN 'uncertain'
         WHEN lost + 1 >= :max_lost OR attempts - postponed >= max_attempts THEN 'dead'
         ELSE 'ready' END"""
    )
)
EXPIRE = text("""
    UPDATE outbox SET state = 'dead', done_at = now(),
           payload = CASE WHEN kind = ANY(:personal) THEN '{}'::jsonb ELSE payload END,
           last_error = COALESCE(last_error || '; then ', '') || 'its time was over'
    WHERE state = 'ready' AND not_after <= now() RETURNING id, kind, class, attempts, state, payload, last_error
""")

log = structlog.get_logger(__name__)


def expire_leases(pace: Tuning) -> int:
    """How many rows changed hands. Any number of processes may call it: one at a time does the work."""
    personal = personal_kinds()
    with transaction() as session:
        if not session.execute(ALONE, {"lock": LOCK}).scalar():
            return 0
        rows = list(session.execute(REAP, {"page": PAGE, "max_lost": pace.max_lost, "personal": personal}))
        rows += session.execute(EXPIRE, {"personal": personal})
        failure_hooks.notify_failures(
            failure_hooks.FailedRow(row.kind, row.state, row.last_error, row.payload)
            for row in rows
            if row.state in failure_hooks.BAD
        )
    for row in rows:
        log.warning("job.reaped", kind=row.kind, outbox_id=row.id, outcome=row.state, attempt=row.attempts)
    return len(rows)
