"""What becomes of recipients: their state and the campaign's figures move in one statement, or neither does."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.campaigns.states import SETTLED

STRIPES = 16
_FIGURES = ", ".join(SETTLED)
_DELTAS = ", ".join(
    f"count(*) FILTER (WHERE became = '{item}') - count(*) FILTER (WHERE was = '{item}')" for item in SETTLED
)
_ADDED = ", ".join(f"{item} = t.{item} + excluded.{item}" for item in SETTLED)
_KEY = "(campaign_id, variant, stripe)"


def tally_sql(rows: str, figure: str) -> str:
    """SQL that adds the rows of a CTE, which have `campaign_id` and `variant`, to one figure."""
    return f"""
        INSERT INTO campaign_tally AS t (campaign_id, variant, stripe, {figure})
        SELECT campaign_id, variant, pg_backend_pid() % {STRIPES}, count(*) FROM {rows} GROUP BY 1, 2
        ON CONFLICT {_KEY} DO UPDATE SET {figure} = t.{figure} + excluded.{figure}"""


def recipient_update_sql(ended: str) -> str:
    """CTEs `moved` and `tallied`: recipients become what a CTE says, which has their `id, state, reason`."""
    return f"""
        was AS (SELECT r.id, r.state FROM campaign_recipient r JOIN {ended} USING (id) ORDER BY r.id FOR UPDATE OF r),
        moved AS (
            UPDATE campaign_recipient r SET state = e.state, reason = e.reason,
                   settled_at = CASE WHEN e.state = 'pending' THEN NULL ELSE now() END
              FROM was JOIN {ended} e USING (id) WHERE r.id = was.id AND e.state <> was.state
            RETURNING r.id, r.campaign_id, r.variant, was.state AS was, e.state AS became),
        tallied AS (
            INSERT INTO campaign_tally AS t (campaign_id, variant, stripe, {_FIGURES})
            SELECT campaign_id, variant, pg_backend_pid() % {STRIPES}, {_DELTAS} FROM moved GROUP BY 1, 2
            ON CONFLICT {_KEY} DO UPDATE SET {_ADDED})"""


SETTLE = text(f"""
    WITH ended AS (
        SELECT DISTINCT ON (id) * FROM unnest(CAST(:ids AS text[]), CAST(:states AS text[]), CAST(:reasons AS text[]))
               AS u (id, state, reason)),
    {recipient_update_sql("ended")}
    SELECT count(*) FROM moved
""")
CLICK = f"""
    WITH clicked AS (
        UPDATE campaign_recipient SET clicked_at = now() WHERE id = :id AND clicked_at IS NULL
        RETURNING campaign_id, variant),
    counted AS ({tally_sql("clicked", "clicked")})
"""


class DeliveryResult(NamedTuple):
    """What became of a recipient, and why if it is not plain."""

    recipient_id: str
    state: str
    reason: str | None = None


def record_delivery(session: OrmSession, ended: Iterable[DeliveryResult]) -> int:
    """Moves recipients to their new states, in the open transaction; how many were not there yet."""
    ids, states, reasons = zip(*ended, strict=True)
    values = {"ids": list(ids), "states": list(states), "reasons": list(reasons)}
    count: int = session.execute(SETTLE, values).scalar_one()
    return count
