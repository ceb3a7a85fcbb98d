"""Writing a campaign and what somebody did with it, and starting it when its time comes: what all actions share."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import Column, RowMapping, Table, bindparam, func, insert, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.errors import MailLimitReached
from app.campaigns import validation
from app.campaigns.audience_counts import Audience
from app.campaigns.models import Campaign, CampaignAct
from app.campaigns.states import DRAFT, SCHEDULED, SENDING
from app.core import throttle
from app.core.clock import rfc3339
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import cancel, enqueue
from app.core.throttle import Rule
from app.events.models import Event
from app.events.queries import WRITES, hold, owned

PER_DAY = Rule("campaigns-a-day", 20, timedelta(days=1))
CAMPAIGNS, ACTS = cast(Table, Campaign.__table__), cast(Table, CampaignAct.__table__)
CAMPAIGN = CAMPAIGNS.c


def _of_caller(column: Column[Any]) -> Any:
    return bindparam(f"its_{column.name}", type_=column.type)


WRITTEN = (*validation.FIELDS, "id", "event_id", "created_by", "status", "scheduled_at", "audience", "copied_from")
NOTED = insert(ACTS).values(
    campaign_id=_of_caller(CAMPAIGN.id),
    account_id=_of_caller(CAMPAIGN.created_by),
    verb=_of_caller(ACTS.c.verb),
    details=_of_caller(ACTS.c.details),
)
CREATE = (
    insert(CAMPAIGNS)
    .values({name: _of_caller(CAMPAIGN[name]) for name in WRITTEN} | {"turn": 1, "version": 1})
    .add_cte(NOTED.cte("noted"))
    .returning(*CAMPAIGN)
)


def create_campaign(
    session: OrmSession, caller: Caller, event_id: str, fields: Mapping[Any, Any], **more: Any
) -> RowMapping:
    """The new campaign, which starts when it says. The caller has seen the event. Raises NotFound, MailLimitReached."""
    hold(session, event_id)
    state = state_of(fields)
    values = {
        **dict.fromkeys(("audience", "copied_from")),
        **validation.to_columns(fields),
        **more,
        "id": new_id(),
        "event_id": event_id,
        "created_by": caller.id,
        "status": state,
        "scheduled_at": fields.get("scheduled_at"),
        "verb": _verb(state),
        "details": _details(fields),
    }
    row = session.execute(CREATE, {f"its_{name}": value for name, value in values.items()}).mappings().one()
    start_campaign(session, caller, row)
    return row


def update_campaign(session: OrmSession, caller: Caller, was: RowMapping, verb: str, **values: Any) -> RowMapping:
    """The campaign with these columns, one version on."""
    noting = insert(ACTS).values(campaign_id=was["id"], verb=verb, account_id=caller.id, details=_details(values))
    statement = (
        update(Campaign)
        .where(Campaign.id == was["id"])
        .values(**values, version=Campaign.version + 1, updated_at=func.now())
        .add_cte(noting.cte("noted"))
        .returning(*CAMPAIGN)
        .execution_options(synchronize_session=False)
    )
    return session.execute(statement).mappings().one()


def lock_campaign(session: OrmSession, caller: Caller, event_id: str, campaign_id: str) -> tuple[RowMapping, str]:
    """The campaign, locked, and the event's time zone. Raises NotFound."""
    row = session.execute(
        select(*CAMPAIGN, Event.timezone)
        .join(Event, Event.id == CAMPAIGN.event_id)
        .where(CAMPAIGN.id == campaign_id, CAMPAIGN.event_id == event_id, owned(caller, WRITES))
        .with_for_update(of=Campaign)
    )
    result = row.mappings().first()
    if result is None:
        raise NotFound()
    return result, result["timezone"]


def start_campaign(session: OrmSession, caller: Caller, row: Mapping[Any, Any]) -> None:
    """Enqueues what sends it, now or when its time comes; nothing for a draft. Raises MailLimitReached."""
    if row["status"] in (SENDING, SCHEDULED):
        count = throttle.hit(session, PER_DAY, caller.id)
        if count.exceeded:
            raise MailLimitReached(f"{PER_DAY.allowed} campaigns a day are enough.", retry_after=count.seconds)
        enqueue(
            "campaigns.fan_out",
            key=_key(row),
            run_at=row["scheduled_at"] if row["status"] == SCHEDULED else None,
            campaign_id=row["id"],
            turn=row["turn"],
        )


def unschedule_campaign(row: Mapping[Any, Any]) -> None:
    """Takes back what would start it. If that has begun, it finds another turn and stops."""
    if row["status"] == SCHEDULED:
        cancel(_key(row))


def state_of(fields: Mapping[Any, Any]) -> str:
    """Where a campaign with these wishes begins."""
    return SENDING if fields.get("send_now") else SCHEDULED if fields.get("scheduled_at") else DRAFT


def audience_of(fields: Mapping[Any, Any]) -> Audience:
    """Whom a campaign is for."""
    share = float(fields.get("ab_split_percent") or 50) if fields.get("ab_test_enabled") else 0
    return Audience(
        type=fields["audience_type"],
        channels=fields["channels"],
        respect=fields["respect_preferences"],
        user_ids=fields.get("user_ids") or (),
        share_b=share,
    )


def _details(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """What is noted of it; that preferences are overridden always is."""
    values: dict[str, Any] = {}
    if fields.get("respect_preferences") is False:
        values["preferencesOverridden"] = True
    if fields.get("scheduled_at"):
        values["scheduledAt"] = rfc3339(fields["scheduled_at"])
    return values


def _verb(state: str) -> str:
    return {SENDING: "sent", SCHEDULED: "scheduled", DRAFT: "drafted"}[state]


def _key(row: Mapping[Any, Any]) -> str:
    return f"campaign-fan-out:{row['id']}:{row['turn']}"
