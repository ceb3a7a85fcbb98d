"""Sending one message: everything about it in one query, the reader's wishes asked again, the fence, the end.

That it was sent, the campaign's figure and the end of the work are one commit.
"""

from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import text

from app.campaigns import statistics
from app.campaigns.audience import exclusion_sql
from app.campaigns.message_rendering import MessageContent, RecipientContext, render_mail, render_push, render_sms
from app.campaigns.placeholders import Facts
from app.campaigns.states import SENT, SUPPRESSED
from app.campaigns.statistics import DeliveryResult
from app.clients import mail as mailing
from app.clients import push as pushing
from app.clients import sms as texting
from app.clients.errors import PermanentAddressError
from app.core.db import fetch_row, fetch_rows, release_connection
from app.core.jobs import Ambiguous, JobError, LostLease, Permanent, Run, Transient
from app.core.transaction import transaction
from app.subscriptions import suppression

SENDER_NOT_VERIFIED = "senderNotVerified"
log = structlog.get_logger(__name__)
COPY = ("title", "body", "href", "image_url", "banner_url")
ABOUT = """e.id AS event_id, e.name AS event_name, e.starts_at, e.ends_at, e.timezone AS zone, e.venue, e.city,
       o.id AS organiser_id, coalesce(p.org_name, o.name) AS organiser_name,
       CASE WHEN o.email_verified_at IS NOT NULL THEN o.email END AS organiser_email"""
WHOSE = "JOIN account o ON o.id = e.organiser_id LEFT JOIN organiser_profile p ON p.account_id = o.id"
DUE = text(f"""
    SELECT r.id, r.channel, r.person, r.address, r.name, r.places,
           CASE WHEN r.variant = 'B' THEN coalesce(nullif(c.variant_b_title, ''), c.title) ELSE c.title END AS title,
           CASE WHEN r.variant = 'B' THEN coalesce(nullif(c.variant_b_body, ''), c.body) ELSE c.body END AS body,
           c.href, c.image_url, c.banner_url, {ABOUT},
           {
    exclusion_sql(
        "r.channel",
        email="r.person",
        address="r.address",
        organiser="e.organiser_id",
        respect="c.respect_preferences",
    )
} AS barred
      FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id JOIN event e ON e.id = c.event_id {WHOSE}
     WHERE r.id = :id AND r.state <> 'sent'
""")
TEST = text(f"""
    SELECT a.id, a.email AS person, a.name, a.phone, 1 AS places, {ABOUT}
      FROM account a, event e {WHOSE} WHERE a.id = :account_id AND e.id = :event_id
""")
DEVICES = "SELECT id, token, platform FROM push_device WHERE account_id = %s ORDER BY seen_at DESC LIMIT 20"
DUE_COLUMNS = ("id", "channel", "person", "address", "name", "places", *COPY)
ABOUT_COLUMNS = (
    "event_id",
    "event_name",
    "starts_at",
    "ends_at",
    "zone",
    "venue",
    "city",
    "organiser_id",
    "organiser_name",
    "organiser_email",
)
FACTS = ("event_name", "starts_at", "ends_at", "zone", "venue", "city", "organiser_name", "places")


@dataclass(frozen=True)
class OutgoingMessage:
    """A message on its way: on which channel, to whom, with what in it."""

    channel: str
    address: str
    reader: RecipientContext
    copy: MessageContent


def deliver(run: Run, recipient_id: str) -> None:
    """Sends what is due to a recipient. Raises what the channel raises."""
    row = fetch_row(DUE, {"id": recipient_id})
    release_connection()
    if row is None:
        return
    values = dict(zip((*DUE_COLUMNS, *ABOUT_COLUMNS, "barred"), row, strict=True))
    reason = values["barred"] or (None if values["organiser_email"] else SENDER_NOT_VERIFIED)
    if reason:
        _record_result(run, DeliveryResult(recipient_id, SUPPRESSED, reason))
        return
    post = OutgoingMessage(
        values["channel"], values["address"], _recipient_context(values), _message_content(values, recipient_id)
    )
    try:
        _send(run, post)
    except PermanentAddressError as error:
        suppression.suppress_address(post.channel, post.address, str(error))
        raise
    _record_result(run, DeliveryResult(recipient_id, SENT))


def deliver_test(run: Run, account_id: str, event_id: str, channel: str, texts: dict[str, Any]) -> None:
    """Sends the texts to the account itself; nothing is counted and nobody's wishes are asked: it is their own."""
    row = fetch_row(TEST, {"account_id": account_id, "event_id": event_id})
    release_connection()
    if row is None:
        return
    values = dict(zip(("id", "person", "name", "phone", "places", *ABOUT_COLUMNS), row, strict=True))
    address = {"email": values["person"], "sms": values["phone"], "push": account_id}[channel]
    if address:
        _send(
            run,
            OutgoingMessage(
                channel, address, _recipient_context(values), _message_content({**dict.fromkeys(COPY), **texts}, None)
            ),
        )


def _send(run: Run, post: OutgoingMessage) -> None:
    if post.channel == "email":
        mailing.send(render_mail(post.reader, post.copy, to=post.address, key=run.key), fence=run.fence)
    elif post.channel == "sms":
        texting.send(render_sms(post.reader, post.copy, to=post.address, key=run.key), fence=run.fence)
    else:
        _push(run, post)


def _push(run: Run, post: OutgoingMessage) -> None:
    """To each device of the account. Once one has it, what goes wrong with another is no reason to begin again."""
    devices = fetch_rows(DEVICES, (post.address,))
    release_connection()
    taken, failed = 0, None
    for device in devices:
        try:
            pushing.send(render_push(post.reader, post.copy, device, key=run.key), fence=run.fence)
            taken += 1
        except PermanentAddressError:
            suppression.delete_device(device[0])
        except LostLease:
            raise
        except JobError as error:
            failed = error if not isinstance(failed, Ambiguous) else failed
    if not taken:
        raise failed if isinstance(failed, Transient | Ambiguous) else Permanent("no device took it")


def _record_result(run: Run, settled: DeliveryResult) -> None:
    with transaction() as session:
        run.done_in(session)
        statistics.record_delivery(session, [settled])


def _recipient_context(values: dict[str, Any]) -> RecipientContext:
    facts = Facts(person_name=values["name"], **{name: values[name] for name in FACTS})
    return RecipientContext(values["person"], facts, values["organiser_id"], values["organiser_email"])


def _message_content(values: dict[str, Any], recipient_id: str | None) -> MessageContent:
    return MessageContent(**{name: values[name] for name in COPY}, recipient_id=recipient_id)
