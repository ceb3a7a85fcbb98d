"""Fan-out and delivery of a campaign.

The fan-out adds the recipients, 500 people at a time. A page is one statement and one commit: it adds a recipient for each
channel that reaches a person, the jobs that send the messages and the counts, and stores how far it came. A process that
is killed loses only its uncommitted page.

A message is read by one query, which checks again whether the recipient may get it. The recipient's state, the campaign's
counts and the end of the job are one commit.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
from sqlalchemy import RowMapping
from sqlalchemy.orm import Session as OrmSession

from app.campaigns import audience_counts, delivery_sql
from app.campaigns.campaign_store import build_audience
from app.campaigns.message_templates import (
    Facts,
    MessageContent,
    RecipientContext,
    render_mail,
    render_push,
    render_sms,
)
from app.campaigns.states import SENT, SUPPRESSED
from app.clients import mail, push, sms
from app.clients.message import PermanentAddressError
from app.core.addresses import mask_address
from app.core.db import fetch_row, fetch_rows, release_connection
from app.core.jobs import Ambiguous, JobError, LostLease, Permanent, Postpone, Run, Transient
from app.core.outbox import enqueue
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from app.subscriptions.actions import delete_device, suppress_address

SENDER_NOT_VERIFIED = "senderNotVerified"


class DueMessage(NamedTuple):
    """A row of DUE_MESSAGE: the event, the recipient and the texts."""

    event_id: str
    event_name: str
    starts_at: datetime
    ends_at: datetime
    zone: str
    venue: str
    city: str
    organiser_id: str
    organiser_name: str
    organiser_email: str | None
    person: str
    name: str | None
    places: int
    channel: str
    address: str
    title: str
    body: str
    href: str | None
    image_url: str | None
    banner_url: str | None
    exclusion: str | None


class TestRecipient(NamedTuple):
    """A row of TEST_RECIPIENT: the event, and the account that gets a test."""

    event_id: str
    event_name: str
    starts_at: datetime
    ends_at: datetime
    zone: str
    venue: str
    city: str
    organiser_id: str
    organiser_name: str
    organiser_email: str | None
    person: str
    name: str | None
    places: int
    phone: str | None


class DeliveryResult(NamedTuple):
    """The new state of a recipient, and the reason if there is one."""

    recipient_id: str
    state: str
    reason: str | None = None


@dataclass(frozen=True)
class OutgoingMessage:
    """A message with its channel, address, recipient and content."""

    channel: str
    address: str
    recipient: RecipientContext
    content: MessageContent


def deliver(run: Run, recipient_id: str) -> None:
    """Sends the message that is due to a recipient, if any. Raises what the channel raises."""
    row = fetch_row(delivery_sql.DUE_MESSAGE, {"id": recipient_id})
    release_connection()
    if row is None:
        return
    due = DueMessage(*row)
    reason = due.exclusion or (None if due.organiser_email else SENDER_NOT_VERIFIED)
    if reason:
        _record_result(run, DeliveryResult(recipient_id, SUPPRESSED, reason))
        return
    content = MessageContent(
        title=due.title,
        body=due.body,
        href=due.href,
        image_url=due.image_url,
        banner_url=due.banner_url,
        recipient_id=recipient_id,
    )
    try:
        _send(run, OutgoingMessage(due.channel, due.address, build_context(due), content))
    except PermanentAddressError as error:
        suppress_address(due.channel, due.address, str(error))
        raise
    _record_result(run, DeliveryResult(recipient_id, SENT))


def deliver_test(run: Run, account_id: str, event_id: str, channel: str, texts: Mapping[str, str | None]) -> None:
    """Sends the texts to the account itself. Nothing is counted, and suppressions do not apply."""
    recipient = find_test_recipient(account_id, event_id)
    release_connection()
    if recipient is None:
        return
    address = {"email": recipient.person, "sms": recipient.phone, "push": account_id}[channel]
    if address:
        content = MessageContent(
            title=texts.get("title") or "",
            body=texts.get("body") or "",
            href=texts.get("href"),
            image_url=texts.get("image_url"),
            banner_url=texts.get("banner_url"),
            is_test=True,
        )
        _send(run, OutgoingMessage(channel, address, build_context(recipient), content))


def record_results(session: OrmSession, results: Iterable[DeliveryResult]) -> int:
    """Moves recipients to their new states in the open transaction; returns how many changed."""
    ids, states, reasons = zip(*results, strict=True)
    parameters = {"ids": list(ids), "states": list(states), "reasons": list(reasons)}
    count: int = session.execute(delivery_sql.RECORD_RESULTS, parameters).scalar_one()
    return count


def _send(run: Run, message: OutgoingMessage) -> None:
    recipient, content = message.recipient, message.content
    if message.channel == "email":
        mail.send(render_mail(recipient, content, to=message.address, key=run.key), fence=run.fence)
    elif message.channel == "sms":
        sms.send(render_sms(recipient, content, to=message.address, key=run.key), fence=run.fence)
    else:
        _push(run, message)


def _push(run: Run, message: OutgoingMessage) -> None:
    """Sends to each device of the account. Once one has the message, errors of others do not repeat the job."""
    devices = fetch_rows(delivery_sql.DEVICES, {"id": message.address})
    release_connection()
    sent_count = 0
    last_error: JobError | None = None
    for device_id, token, platform in devices:
        device = (device_id, token, platform)
        try:
            push.send(render_push(message.recipient, message.content, device, key=run.key), fence=run.fence)
            sent_count += 1
        except PermanentAddressError:
            delete_device(device_id)
        except LostLease:
            raise
        except JobError as error:
            last_error = error if not isinstance(last_error, Ambiguous) else last_error
    if not sent_count:
        raise last_error if isinstance(last_error, Transient | Ambiguous) else Permanent("no device took it")


def _record_result(run: Run, result: DeliveryResult) -> None:
    with transaction() as session:
        run.done_in(session)
        record_results(session, [result])


def find_test_recipient(account_id: str, event_id: str) -> TestRecipient | None:
    """The account as the recipient of a test or a preview; None if it or the event is gone."""
    row = fetch_row(delivery_sql.TEST_RECIPIENT, {"account_id": account_id, "event_id": event_id})
    return TestRecipient(*row) if row else None


def build_context(row: DueMessage | TestRecipient) -> RecipientContext:
    """The facts for the texts of a message to this recipient."""
    facts = Facts(
        event_name=row.event_name,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        zone=row.zone,
        venue=row.venue,
        city=row.city,
        organiser_name=row.organiser_name,
        contact_email=row.organiser_email or "",
        person_name=row.name,
        places=row.places,
    )
    return RecipientContext(row.person, facts, row.organiser_id, row.organiser_email)


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
            raise Postpone(timedelta(0), f"rows are made up to {mask_address(after)}")
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
            stored = {"id": campaign_id, "event_id": row["event_id"], "audience": orjson.dumps(counts).decode()}
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
        run.progress_in(session)
        session.execute(delivery_sql.CUSTOM_PLAN)
        statement = delivery_sql.add_page_sql(audience.type, audience.ordered_channels)
        people_count, last_person = session.execute(statement, parameters).one()
        if people_count == PAGE_SIZE:
            return str(last_person)
        session.execute(delivery_sql.END_FAN_OUT, {"id": campaign["id"], "event_id": campaign["event_id"]})
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
