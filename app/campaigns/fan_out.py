"""The fan-out: adding the recipients of a campaign, five hundred people at a time, and finishing the campaign.

A page is one statement and one commit: it adds a recipient for each channel that reaches a person, the jobs that send the
messages and the counts, and stores how far it came. A process that dies loses only its uncommitted page.
"""

import time
from datetime import timedelta

import orjson
from sqlalchemy import RowMapping

from app.campaigns import audience_counts, delivery_sql
from app.campaigns.campaign_store import build_audience
from app.core.addresses import mask_email
from app.core.jobs import Postpone, Run
from app.core.outbox import enqueue
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction

PAGE_SIZE = 500
# The pause after a page as a multiple of its duration, so that the database can serve other requests.
PAUSE_FACTOR = 1.5
MESSAGES_PER_SECOND = 200
"""An upper limit of the sending rate, for the time until the next check whether all messages are sent."""
MIN_DELAY, MAX_DELAY = timedelta(seconds=1), timedelta(seconds=60)


def fan_out(run: Run, campaign_id: str, turn: int) -> None:
    """Adds pages for half of a job's time limit, then raises Postpone to go on from there.

    So leases stay short: the lease of a dead worker expires within a minute, however large the audience is.
    """
    deadline = time.monotonic() + get_tuning().time_limit / 2
    campaign = start_fan_out(run, campaign_id, turn)
    after: str | None = None if campaign is None else campaign["after"] or ""
    while campaign is not None and after is not None:
        if time.monotonic() > deadline:
            raise Postpone(timedelta(0), f"rows are made up to {mask_email(after)}")
        started = time.monotonic()
        after = add_page(run, campaign, after)
        if after is not None:
            time.sleep(PAUSE_FACTOR * (time.monotonic() - started))


def start_fan_out(run: Run, campaign_id: str, turn: int) -> RowMapping | None:
    """The campaign in the state `sending`, with the counts of its audience. None, with the job done, if it was cancelled
    or changed, or if its fan-out has ended."""
    with transaction() as session:
        row = session.execute(delivery_sql.BEGIN_FAN_OUT, {"id": campaign_id, "turn": turn}).mappings().first()
        if row is None:
            run.done_in(session)
            return None
        if row["after"] is None:
            session.execute(delivery_sql.LONG_TIMEOUT)
            counts = audience_counts.final_counts(session, row["event_id"], build_audience(row))
            stored = {"id": campaign_id, "audience": orjson.dumps(counts).decode()}
            session.execute(delivery_sql.STORE_COUNTS, stored)
        return row


def add_page(run: Run, campaign: RowMapping, after: str) -> str | None:
    """Adds the recipients of the next people. Returns the last of them, or None, with the job done, after the last page."""
    audience = build_audience(campaign)
    parameters = {
        "campaign_id": campaign["id"],
        "event_id": campaign["event_id"],
        "after": after,
        "most": PAGE_SIZE,
        "share": round(audience.share_b * 100),
        **audience.parameters,
    }
    with transaction() as session:
        run.hold_in(session)
        session.execute(delivery_sql.CUSTOM_PLAN)
        statement = delivery_sql.add_page_sql(audience.type, audience.ordered_channels)
        people_count, last_person = session.execute(statement, parameters).one()
        if people_count == PAGE_SIZE:
            return str(last_person)
        session.execute(delivery_sql.END_FAN_OUT, {"id": campaign["id"]})
        enqueue("campaigns.finish", key=f"campaign-finish:{campaign['id']}", campaign_id=campaign["id"])
        run.done_in(session)
    return None


def finish_campaign(run: Run, campaign_id: str) -> None:
    """Finishes the campaign. While messages are pending it raises Postpone, for longer the more there are."""
    with transaction() as session:
        pending = int(session.execute(delivery_sql.FINISH, {"id": campaign_id}).scalar_one())
        if pending <= 0:
            run.done_in(session)
    if pending > 0:
        delay = MIN_DELAY + timedelta(seconds=pending / MESSAGES_PER_SECOND)
        raise Postpone(min(MAX_DELAY, delay), f"{pending} are pending")
