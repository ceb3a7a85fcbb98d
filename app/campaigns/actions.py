"""What organisers do with campaigns.

A new campaign: written anew, or a copy.

Changing a campaign before it is sent, sending it, or giving it another time.

Calling a campaign off before it is sent.

Sending again what nobody knows the fate of, on purpose.

A message to oneself, before others get it.

A picture for a campaign.

Following a link of a message.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping, text

from app.accounts.caller import Caller
from app.campaigns import audience_counts, campaign_store, queries, validation
from app.campaigns.errors import CampaignFrozen, CampaignStarted, NoReachableChannel, NothingUncertain
from app.campaigns.message_rendering import address_of
from app.campaigns.states import CANCELED, HOLDERS, OPEN, SCHEDULED
from app.campaigns.statistics import CLICK, recipient_update_sql
from app.core import throttle
from app.core.db import fetch_row, release_connection
from app.core.errors import NotFound, StaleVersion, Throttled
from app.core.outbox import enqueue_all, job_spec
from app.core.outbox.retry_rows import REVIVED
from app.core.throttle import Rule
from app.core.transaction import transaction, write_row
from app.events.queries import WRITES
from app.media.actions import StoredPicture, store_picture
from app.subscriptions import click_tracking

__all__ = [
    "broadcast",
    "cancel_campaign",
    "change_campaign",
    "click",
    "duplicate",
    "resend_uncertain",
    "send_test",
    "upload_image",
]

NAME_LENGTH = 120


def broadcast(*, caller: Caller, event_id: str, **fields: Any) -> dict[str, Any]:
    """A campaign as it begins: sending, scheduled or a draft, and whom it is for.

    Of an audience of more than a thousand places only their number is told; it is counted when sending starts.
    Raises NotFound, ValidationFailed for a time that is past where the event is.
    """
    audience = audience_counts.count_audience(caller, event_id, campaign_store.audience_of(fields))
    checked = validation.resolve_fields(fields, audience.timezone)
    with transaction() as session:
        row = campaign_store.create_campaign(session, caller, event_id, checked, audience=audience.audience)
    return {**row, "audience": audience.audience}


def duplicate(*, caller: Caller, event_id: str, campaign_id: str, **fields: Any) -> dict[str, Any]:
    """A copy called "… (copy)", with the given fields in place of its own: a draft unless they say when to send.

    Raises NotFound, ValidationFailed.
    """
    was = queries.get_campaign_fields(caller, event_id, campaign_id)
    kept = {name: was[name] for name in validation.FIELDS}
    if fields.get("audience_type") == HOLDERS:
        kept["user_ids"] = []
    merged = {**kept, "name": _copy_name(was["name"]), **fields}
    checked = validation.resolve_fields(merged, was["timezone"])
    with transaction() as session:
        row = campaign_store.create_campaign(session, caller, event_id, checked, copied_from=campaign_id)
    return {**row, "tallies": None}


def _copy_name(name: str) -> str:
    ending = " (copy)"
    return name[: NAME_LENGTH - len(ending)].rstrip() + ending


def change_campaign(
    *, caller: Caller, event_id: str, campaign_id: str, expected_version: int | None, **fields: Any
) -> dict[str, Any]:
    """The campaign with these fields. `send_now` sends it; `scheduled_at` gives it a time, and null takes it away.

    Raises NotFound, ValidationFailed, StaleVersion, CampaignFrozen once sending has begun.
    """
    with transaction() as session:
        was, zone = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        merged = _merge_fields(was, fields)
        checked = validation.resolve_fields(merged, zone) if was["status"] in OPEN else merged
        if expected_version not in (None, was["version"]):
            raise StaleVersion()
        if was["status"] not in OPEN:
            raise CampaignFrozen(status=was["status"])
        campaign_store.unschedule_campaign(was)
        row = campaign_store.update_campaign(
            session,
            caller,
            was,
            "changed",
            **validation.to_columns(checked),
            status=campaign_store.state_of(checked),
            scheduled_at=checked["scheduled_at"],
            turn=was["turn"] + 1,
        )
        campaign_store.start_campaign(session, caller, row)
    return {**row, "tallies": None}


def _merge_fields(was: RowMapping, fields: dict[str, Any]) -> dict[str, Any]:
    kept = {name: was[name] for name in validation.FIELDS}
    if fields.get("audience_type") == HOLDERS:
        kept["user_ids"] = []
    if was["status"] == SCHEDULED and not fields.get("send_now"):
        kept["scheduled_at"] = was["scheduled_at"]
    return {**kept, **fields}


def cancel_campaign(*, caller: Caller, event_id: str, campaign_id: str) -> dict[str, Any]:
    """The campaign, called off; one that is already stays as it is.

    Anyone who comes first has it, this or its start: both change the one row. Raises NotFound, CampaignStarted.
    """
    with transaction() as session:
        was, _ = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        if was["status"] == CANCELED:
            return {**was, "tallies": None}
        if was["status"] not in OPEN:
            raise CampaignStarted(status=was["status"])
        campaign_store.unschedule_campaign(was)
        row = campaign_store.update_campaign(session, caller, was, "canceled", status=CANCELED, turn=was["turn"] + 1)
    return {**row, "tallies": None}


MOST = 500
ID, IDS = "CAST(:campaign_id AS text)", "CAST(:ids AS text[])"
RESEND = text(f"""
    WITH chosen AS (
        SELECT r.id FROM campaign_recipient r
         WHERE r.campaign_id = {ID} AND r.state = 'uncertain'
           AND ({IDS} IS NULL OR r.id = ANY({IDS}))
         ORDER BY r.id LIMIT {MOST}),
    revived AS (
        UPDATE outbox SET {REVIVED} FROM chosen
         WHERE dedupe_key = 'campaign-' || chosen.id AND state = 'uncertain' RETURNING chosen.id),
    ended AS (SELECT id, 'pending' AS state, CAST(NULL AS text) AS reason FROM revived),
    {recipient_update_sql("ended")},
    noted AS (
        INSERT INTO campaign_act (campaign_id, verb, account_id, details)
        SELECT {ID}, 'resent', CAST(:caller_id AS text),
               jsonb_build_object('resent', count(*)) FROM moved
        HAVING count(*) > 0)
    SELECT count(*) FROM moved
""")


def resend_uncertain(
    *, caller: Caller, event_id: str, campaign_id: str, recipient_ids: Sequence[str] | None = None
) -> dict[str, Any]:
    """How many of the uncertain messages go out again: those named, or the first five hundred.

    Somebody may get one twice: that is what asking for it means, and it is noted who asked. Raises NotFound,
    NothingUncertain.
    """
    with transaction() as session:
        row, _ = campaign_store.lock_campaign(session, caller, event_id, campaign_id)
        values = {"campaign_id": campaign_id, "caller_id": caller.id, "ids": recipient_ids}
        count = session.execute(RESEND, values).scalar_one()
        if not count:
            raise NothingUncertain()
    return {"campaign_id": row["id"], "resent": count}


TESTS = Rule("campaign-tests", 30, timedelta(hours=1))
COPY = ("title", "body", "href", "image_url", "banner_url")


def send_test(*, caller: Caller, event_id: str, channels: Sequence[str], **fields: Any) -> dict[str, Any]:
    """On which channels the texts are on their way to the caller, each variant once.

    Raises NotFound, NoWayToYou, and Throttled after thirty an hour.
    """
    validation.check_campaign(fields)
    queries.load_placeholder_facts(caller, event_id, tier=WRITES)
    ways = [channel for channel in channels if channel != "sms" or caller.phone]
    if not ways:
        raise NoReachableChannel()
    works = [
        job_spec("campaigns.deliver_test", account_id=caller.id, event_id=event_id, channel=channel, texts=texts)
        for channel in ways
        for texts in _load_test_variants(fields)
    ]
    with transaction() as session:
        tests = throttle.hit(session, TESTS, caller.id)
        if not tests.exceeded:
            enqueue_all(works)
    if tests.exceeded:
        raise Throttled("Thirty tests an hour are enough; go on later.", retry_after=tests.seconds)
    return {"channels": ways, "to": caller.email, "messages": len(works)}


def _load_test_variants(fields: dict[str, Any]) -> list[dict[str, Any]]:
    plain = {name: fields.get(name) for name in COPY}
    if not fields.get("ab_test_enabled"):
        return [plain]
    other = {"title": fields.get("variant_b_title"), "body": fields.get("variant_b_body")}
    return [plain, {**plain, **{name: said for name, said in other.items() if said}}]


def upload_image(*, caller: Caller, event_id: str, data: bytes) -> StoredPicture:
    """Where the picture can be seen from now on. Raises NotFound, and what `store_picture` raises."""
    queries.load_placeholder_facts(caller, event_id, tier=WRITES)
    release_connection()
    return store_picture(account_id=caller.id, data=data)


_WHERE = """
    SELECT c.href FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id WHERE r.id = :id
"""
LED, COUNTED = text(_WHERE), text(CLICK + _WHERE)


def click(token: str, *, counts: bool) -> str:
    """Where the link leads: what the campaign has said, and nowhere else. A person counts once. Raises NotFound."""
    result = click_tracking.decode_click_token(token)
    if result is None:
        raise NotFound()
    row = (write_row if counts else fetch_row)(COUNTED if counts else LED, {"id": result.recipient_id})
    if row is None or row[0] is None:
        raise NotFound()
    return address_of(row[0])
