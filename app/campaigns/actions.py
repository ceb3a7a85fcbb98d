"""Writes of campaigns, test messages, and clicks on links of messages."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict

from sqlalchemy import RowMapping

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.campaigns import audience_counts, campaign_store, queries, validation
from app.campaigns.delivery_sql import COUNT_CLICK, READ_HREF, RESEND_UNCERTAIN
from app.campaigns.errors import CampaignFrozen, CampaignStarted, NoReachableChannel, NothingUncertain
from app.campaigns.message_templates import absolute_url
from app.campaigns.states import CANCELED, FILTERED, OPEN, SCHEDULED, SPECIFIC
from app.core import throttle
from app.core.db import fetch_row, release_connection
from app.core.errors import NotFound, StaleVersion, Throttled
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue_all, job_spec
from app.core.throttle import Rule
from app.core.transaction import transaction, write_row
from app.media.actions import StoredPicture, store_picture
from app.subscriptions import message_links

NAME_LENGTH = 120
COPY_SUFFIX = " (copy)"
TESTS_PER_HOUR = Rule("campaign-tests", 30, timedelta(hours=1))
TEST_FIELDS = ("title", "body", "href", "image_url", "banner_url")

Campaign = dict[str, object]
"""The row of a campaign with its `tallies`, which are None while it has no recipients."""


class ResentMessages(TypedDict):
    """A campaign, and how many of its messages are sent again."""

    campaign_id: str
    resent: int


class SentTest(TypedDict):
    """The channels and the e-mail address of a test, and the number of its messages."""

    channels: list[str]
    to: str
    messages: int


def broadcast(*, caller: Caller, event_id: str, **fields: object) -> Campaign:
    """The new campaign, sending, scheduled or a draft, with the counts of its audience.

    An audience of more than a thousand places is counted when sending starts. Raises NotFound, MailLimitReached, and
    ValidationFailed for contradicting fields or a time that is past in the event's time zone.
    """
    counts = audience_counts.count_audience(caller, event_id, campaign_store.build_audience(fields))
    resolved = validation.resolve_fields(fields, counts.timezone)
    with transaction() as session:
        row = campaign_store.create_campaign(session, caller, event_id, resolved, audience=counts.audience)
    return {**row, "audience": counts.audience}


def duplicate(*, caller: Caller, event_id: str, campaign_id: str, **fields: object) -> Campaign:
    """A copy called "… (copy)" with the given fields: a draft unless they send or schedule it.

    Raises NotFound, ValidationFailed, MailLimitReached.
    """
    original = queries.get_campaign_to_copy(caller, event_id, campaign_id)
    name = original["name"][: NAME_LENGTH - len(COPY_SUFFIX)].rstrip() + COPY_SUFFIX
    merged = {**_stored_fields(original, fields), "name": name, **fields}
    resolved = validation.resolve_fields(merged, original["timezone"])
    with transaction() as session:
        row = campaign_store.create_campaign(session, caller, event_id, resolved, copied_from=campaign_id)
    return {**row, "tallies": None}


def change_campaign(
    *, caller: Caller, event_id: str, campaign_id: str, expected_version: int | None, **fields: object
) -> Campaign:
    """The campaign with these fields. `send_now` sends it, `scheduled_at` schedules it, and None makes it a draft.

    Raises NotFound, ValidationFailed, StaleVersion, MailLimitReached, and CampaignFrozen once sending has begun.
    """
    with transaction() as session:
        campaign, zone = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        stored = _stored_fields(campaign, fields)
        if campaign["status"] == SCHEDULED and not fields.get("send_now"):
            stored["scheduled_at"] = campaign["scheduled_at"]
        merged = {**stored, **fields}
        resolved = validation.resolve_fields(merged, zone) if campaign["status"] in OPEN else merged
        if expected_version not in (None, campaign["version"]):
            raise StaleVersion()
        if campaign["status"] not in OPEN:
            raise CampaignFrozen(status=campaign["status"])
        campaign_store.unschedule_campaign(campaign)
        row = campaign_store.update_campaign(
            session,
            caller,
            campaign,
            campaign_store.find_verb(campaign, resolved),
            **validation.to_columns(resolved),
            status=campaign_store.initial_state(resolved),
            scheduled_at=resolved["scheduled_at"],
            turn=campaign["turn"] + 1,
        )
        campaign_store.start_campaign(session, caller, row)
    return {**row, "tallies": None}


def _stored_fields(campaign: RowMapping, changes: Mapping[str, object]) -> dict[str, object]:
    """The fields of a campaign to which changes are applied; another audience drops its `user_ids` or its filter."""
    stored = {name: campaign[name] for name in validation.FIELDS}
    audience_type = changes.get("audience_type") or campaign["audience_type"]
    if audience_type != SPECIFIC:
        stored["user_ids"] = []
    if audience_type != FILTERED:
        stored["audience_filter"] = None
    return stored


def cancel_campaign(*, caller: Caller, event_id: str, campaign_id: str) -> Campaign:
    """The cancelled campaign. Cancelling it again changes nothing.

    Cancelling and starting change the same row, so only one of them succeeds. Raises NotFound, CampaignStarted.
    """
    with transaction() as session:
        campaign, _ = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        if campaign["status"] == CANCELED:
            return {**campaign, "tallies": None}
        if campaign["status"] not in OPEN:
            raise CampaignStarted(status=campaign["status"])
        campaign_store.unschedule_campaign(campaign)
        row = campaign_store.update_campaign(
            session, caller, campaign, "canceled", status=CANCELED, turn=campaign["turn"] + 1
        )
        record(session, Action.CAMPAIGN_CANCELLED, event_id=event_id, subject=campaign_id)
    return {**row, "tallies": None}


def resend_uncertain(
    *, caller: Caller, event_id: str, campaign_id: str, recipient_ids: Sequence[str] | None = None
) -> ResentMessages:
    """Sends uncertain messages again: the named ones, or the first five hundred.

    Some people may get a message twice; the act is recorded with its author. Raises NotFound, NothingUncertain.
    """
    with transaction() as session:
        campaign, _ = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        parameters = {"campaign_id": campaign_id, "event_id": event_id, "caller_id": caller.id, "ids": recipient_ids}
        count = session.execute(RESEND_UNCERTAIN, parameters).scalar_one()
        if not count:
            raise NothingUncertain()
        record(session, Action.CAMPAIGN_RESENT, event_id=event_id, subject=campaign_id, data={"messages": count})
    return {"campaign_id": campaign["id"], "resent": count}


def send_test(*, caller: Caller, event_id: str, channels: Sequence[str], **fields: object) -> SentTest:
    """Sends each variant of the texts to the caller, on those of the channels that reach them.

    Raises NotFound, ValidationFailed, NoReachableChannel, and Throttled after thirty tests within an hour.
    """
    validation.check_campaign(fields)
    queries.check_event_access(caller, event_id)
    reachable = [channel for channel in channels if channel != "sms" or caller.phone]
    if not reachable:
        raise NoReachableChannel()
    jobs = [
        job_spec("campaigns.deliver_test", account_id=caller.id, event_id=event_id, channel=channel, texts=texts)
        for channel in reachable
        for texts in _build_test_variants(fields)
    ]
    with transaction() as session:
        limit = throttle.hit(session, TESTS_PER_HOUR, caller.id)
        if not limit.exceeded:
            enqueue_all(jobs)
    if limit.exceeded:
        raise Throttled(
            mark_for_translation("You can send thirty tests an hour; try again later."), retry_after=limit.seconds
        )
    return {"channels": reachable, "to": caller.email, "messages": len(jobs)}


def _build_test_variants(fields: Mapping[str, Any]) -> list[dict[str, str | None]]:
    variant_a = {name: fields.get(name) for name in TEST_FIELDS}
    if not fields.get("ab_test_enabled"):
        return [variant_a]
    texts_b = {"title": fields.get("variant_b_title"), "body": fields.get("variant_b_body")}
    return [variant_a, {**variant_a, **{name: text for name, text in texts_b.items() if text}}]


def upload_image(*, caller: Caller, event_id: str, data: bytes) -> StoredPicture:
    """The URL of the stored picture. Raises NotFound, and what `store_picture` raises."""
    queries.check_event_access(caller, event_id)
    release_connection()
    return store_picture(client_id=caller.client_id, data=data)


def click(token: str, *, counts: bool) -> str:
    """The URL of the campaign's link. With `counts` the recipient's first click is counted. Raises NotFound."""
    decoded = message_links.decode_click_token(token)
    if decoded is None:
        raise NotFound()
    parameters = {"id": decoded.recipient_id}
    row = write_row(COUNT_CLICK, parameters) if counts else fetch_row(READ_HREF, parameters)
    if row is None or row[0] is None:
        raise NotFound()
    return absolute_url(row[0])
