"""Making the rows of an audience, five hundred people at a time: a page is one statement and one commit.

The statement judges the next people, writes a row for each channel that reaches them, the work that sends it, and the
count; and notes how far it has come. A process that dies loses a page that was never there.

Ending a campaign once nothing of it is pending.
"""

import time
from datetime import timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import RowMapping, TextClause, text

from app.campaigns import audience, audience_counts
from app.campaigns.campaign_store import audience_of
from app.campaigns.statistics import tally_sql as counted
from app.core.addresses import mask_email
from app.core.ids import NEW_ID_SQL
from app.core.jobs import Postpone, Run
from app.core.outbox import enqueue
from app.core.outbox.bulk_enqueue import enqueue_sql
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction

PEOPLE = 500
LASTING = "24 hours"
BEGIN = text("""
    UPDATE campaign SET status = 'sending', started_at = coalesce(started_at, now()), updated_at = now(),
           version = version + CASE WHEN started_at IS NULL THEN 1 ELSE 0 END
     WHERE id = :id AND turn = :turn AND status IN ('scheduled', 'sending') AND fanned_out_at IS NULL
    RETURNING *
""")
FREEZE = text("UPDATE campaign SET audience = CAST(:audience AS jsonb) WHERE id = :id")
DONE = text("UPDATE campaign SET fanned_out_at = now(), updated_at = now() WHERE id = :id")
PATIENCE = text("SET LOCAL statement_timeout = '60s'")
# Each page is planned for its own event: a plan for any event would read a large one as if it were small.
PLANNED = text("SET LOCAL plan_cache_mode = force_custom_plan")
# How long it rests after a page, as a multiple of what that took: the database has others to serve meanwhile.
REST = 1.5
ADDRESSES = {"email": "email", "sms": "number", "push": "account_id"}
ID = "CAST(:campaign_id AS text)"
HASH = f"left(encode(sha256(convert_to({ID} || ':' || j.email, 'UTF8')), 'hex'), 8)"
VARIANT = f"CASE WHEN ('x' || {HASH})::bit(32)::bigint % 10000 < CAST(:share AS int) THEN 'B' ELSE 'A' END"
"""By campaign and person: on every channel the same, however often it is asked."""


def fan_out(run: Run, campaign_id: str, turn: int) -> None:
    """Makes pages for half of the time that a job has; then raises Postpone, and goes on from there.

    So a lease stays short: anyone who dies with it is missed within a minute, however large the audience is.
    """
    ends = time.monotonic() + get_tuning().time_limit / 2
    campaign = start_fan_out(run, campaign_id, turn)
    after: str | None = None if campaign is None else campaign["after"] or ""
    while campaign is not None and after is not None:
        if time.monotonic() > ends:
            raise Postpone(timedelta(0), f"rows are made up to {mask_email(after)}")
        began = time.monotonic()
        after = add_page(run, campaign, after)
        if after is not None:
            time.sleep(REST * (time.monotonic() - began))


def start_fan_out(run: Run, campaign_id: str, turn: int) -> RowMapping | None:
    """The campaign, frozen: its texts by its state, its audience in figures. None when it was called off, changed, or
    is done; then so is the work."""
    with transaction() as session:
        row = session.execute(BEGIN, {"id": campaign_id, "turn": turn}).mappings().first()
        if row is None:
            run.done_in(session)
            return None
        if row["after"] is None:
            session.execute(PATIENCE)
            figures = audience_counts.final_counts(session, row["event_id"], audience_of(row))
            session.execute(FREEZE, {"id": campaign_id, "audience": audience_counts.encode_counts(figures)})
        return row


def add_page(run: Run, campaign: RowMapping, after: str) -> str | None:
    """Makes the rows of the next people; the last of them, or None when all are made, and with it the work is done."""
    parameters = audience_of(campaign)
    values: dict[str, Any] = {
        "campaign_id": campaign["id"],
        "event_id": campaign["event_id"],
        "after": after,
        "most": PEOPLE,
        "share": round(parameters.share_b * 100),
        **parameters.values,
    }
    with transaction() as session:
        run.hold_in(session)
        session.execute(PLANNED)
        people, last = session.execute(add_page_sql(parameters.type, parameters.ordered), values).one()
        if people == PEOPLE:
            return str(last)
        session.execute(DONE, {"id": campaign["id"]})
        enqueue("campaigns.finish", key=f"campaign-finish:{campaign['id']}", campaign_id=campaign["id"])
        run.done_in(session)
    return None


@lru_cache(maxsize=32)
def add_page_sql(type: str, channels: tuple[str, ...]) -> TextClause:
    """A page. A row that is there stays: a person gets a campaign once on a channel, a telephone number once."""
    ways = ", ".join(f"('{channel}', j.{audience.column(channel)}, j.{ADDRESSES[channel]})" for channel in channels)
    queued = enqueue_sql(
        "campaigns.deliver",
        "written",
        key="'campaign-' || id",
        payload="jsonb_build_object('recipient_id', id)",
        lasting=LASTING,
    )
    return text(f"""
        WITH j AS MATERIALIZED ({audience.with_reachability_sql(audience.next_page_sql(type), channels)}),
        written AS (
            INSERT INTO campaign_recipient (id, campaign_id, channel, person, address, name, places, variant)
            SELECT {NEW_ID_SQL}, {ID}, way.channel, j.email, way.address, left(j.name, 200), j.places,
                   {VARIANT}
              FROM j, LATERAL (VALUES {ways}) AS way (channel, verdict, address)
             WHERE way.verdict = '{audience.REACHABLE}' ORDER BY j.email
            ON CONFLICT DO NOTHING RETURNING id, campaign_id, variant),
        queued AS ({queued}),
        counted AS ({counted("written", "total")}),
        noted AS (
            UPDATE campaign SET after = (SELECT max(email) FROM j)
             WHERE id = {ID} AND EXISTS (SELECT FROM j))
        SELECT count(*), max(email) FROM j
    """)


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


def finish_campaign(run: Run, campaign_id: str) -> None:
    """Ends it, or raises Postpone: the longer, the more is pending."""
    with transaction() as session:
        pending = int(session.execute(FINISH, {"id": campaign_id}).scalar_one())
        if pending <= 0:
            run.done_in(session)
    if pending > 0:
        raise Postpone(min(LATE, SOON + timedelta(seconds=pending / A_SECOND)), f"{pending} are pending")
