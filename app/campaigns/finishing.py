"""Ending a campaign once nothing of it is pending."""

from datetime import timedelta

from sqlalchemy import text

from app.core.jobs import Postpone, Run
from app.core.transaction import transaction

# Somebody was reached, or there was nobody: sent. There were people and none was reached: failed.
FINISH = text("""
    WITH stood AS (
        SELECT coalesce(sum(total), 0) AS total, coalesce(sum(sent + uncertain + suppressed), 0) AS well,
               coalesce(sum(failed), 0) AS failed
          FROM campaign_tally WHERE campaign_id = :id
    ), finished AS (
        UPDATE campaign SET finished_at = now(), updated_at = now(), version = version + 1,
               status = CASE WHEN stood.failed > 0 AND stood.well = 0 THEN 'failed' ELSE 'sent' END
          FROM stood
         WHERE id = :id AND status = 'sending' AND fanned_out_at IS NOT NULL
           AND stood.well + stood.failed >= stood.total
    )
    SELECT total - well - failed FROM stood
""")
FAIL = text("""
    UPDATE campaign SET status = 'failed', finished_at = now(), updated_at = now(), version = version + 1
     WHERE id = ANY(:ids) AND status IN ('sending', 'scheduled')
""")
A_SECOND = 200
"""Messages that surely do not all leave within a second."""
SOON, LATE = timedelta(seconds=1), timedelta(seconds=60)


def finish(run: Run, campaign_id: str) -> None:
    """Ends it, or raises Postpone: the longer, the more is pending."""
    with transaction() as session:
        pending = int(session.execute(FINISH, {"id": campaign_id}).scalar_one())
        if pending <= 0:
            run.done_in(session)
    if pending > 0:
        raise Postpone(min(LATE, SOON + timedelta(seconds=pending / A_SECOND)), f"{pending} are pending")
