"""Writing campaigns with the record of who did what, and starting and unscheduling them; all actions share it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import BindParameter, Column, RowMapping, Table, bindparam, func, insert, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.errors import MailLimitReached
from app.audit.actions import Action
from app.audit.log import record
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
from app.events.queries import hold, owned

CAMPAIGNS_PER_DAY = Rule("campaigns-a-day", 20, timedelta(days=1))
CAMPAIGNS, ACTS = cast(Table, Campaign.__table__), cast(Table, CampaignAct.__table__)
CAMPAIGN = CAMPAIGNS.c
Fields = Mapping[Any, Any]
"""Fields of a campaign by name, or its row."""


def _parameter(column: Column[object]) -> BindParameter[Any]:
    return bindparam(f"its_{column.name}", type_=column.type)


CREATED_COLUMNS = (
    *validation.FIELDS,
    "id",
    "event_id",
    "created_by",
    "status",
    "scheduled_at",
    "audience",
    "copied_from",
)
RECORD_ACT = insert(ACTS).values(
    campaign_id=_parameter(CAMPAIGN.id),
    event_id=_parameter(CAMPAIGN.event_id),
    account_id=_parameter(CAMPAIGN.created_by),
    verb=_parameter(ACTS.c.verb),
    details=_parameter(ACTS.c.details),
)
CREATE_CAMPAIGN = (
    insert(CAMPAIGNS)
    .values({name: _parameter(CAMPAIGN[name]) for name in CREATED_COLUMNS} | {"turn": 1, "version": 1})
    .add_cte(RECORD_ACT.cte("recorded"))
    .returning(*CAMPAIGN)
)


def create_campaign(
    session: OrmSession, caller: Caller, event_id: str, fields: Fields, **columns: object
) -> RowMapping:
    """The new campaign, sending, scheduled or a draft. The caller's right to the event has been checked.

    Raises NotFound, MailLimitReached.
    """
    hold(session, event_id)
    state = initial_state(fields)
    values = {
        **dict.fromkeys(("audience", "copied_from")),
        **validation.to_columns(fields),
        **columns,
        "id": new_id(),
        "event_id": event_id,
        "created_by": caller.id,
        "status": state,
        "scheduled_at": fields.get("scheduled_at"),
        "verb": _verb(state),
        "details": _build_details(fields),
    }
    row = session.execute(CREATE_CAMPAIGN, {f"its_{name}": value for name, value in values.items()}).mappings().one()
    start_campaign(session, caller, row)
    return row


def update_campaign(
    session: OrmSession, caller: Caller, campaign: RowMapping, verb: str, **columns: object
) -> RowMapping:
    """Changes columns of a campaign and records the act; returns the new row, one version on."""
    record_act = insert(ACTS).values(
        campaign_id=campaign["id"],
        event_id=campaign["event_id"],
        verb=verb,
        account_id=caller.id,
        details=_build_details(columns),
    )
    statement = (
        update(Campaign)
        .where(Campaign.id == campaign["id"], Campaign.event_id == campaign["event_id"])
        .values(**columns, version=Campaign.version + 1, updated_at=func.now())
        .add_cte(record_act.cte("recorded"))
        .returning(*CAMPAIGN)
        .execution_options(synchronize_session=False)
    )
    return session.execute(statement).mappings().one()


def lock_campaign(session: OrmSession, caller: Caller, event_id: str, campaign_id: str) -> tuple[RowMapping, str]:
    """The locked campaign and the event's time zone. Raises NotFound."""
    result = session.execute(
        select(*CAMPAIGN, Event.timezone)
        .join(Event, Event.id == CAMPAIGN.event_id)
        .where(CAMPAIGN.id == campaign_id, CAMPAIGN.event_id == event_id, owned(caller))
        .with_for_update(of=Campaign)
    )
    campaign = result.mappings().first()
    if campaign is None:
        raise NotFound()
    return campaign, campaign["timezone"]


def start_campaign(session: OrmSession, caller: Caller, row: Fields) -> None:
    """Enqueues the fan-out, for now or the scheduled time; does nothing for a draft. Raises MailLimitReached."""
    if row["status"] in (SENDING, SCHEDULED):
        count = throttle.hit(session, CAMPAIGNS_PER_DAY, caller.id)
        if count.exceeded:
            raise MailLimitReached(
                f"{CAMPAIGNS_PER_DAY.allowed} campaigns a day are enough.", retry_after=count.seconds
            )
        enqueue(
            "campaigns.fan_out",
            key=_build_job_key(row),
            run_at=row["scheduled_at"] if row["status"] == SCHEDULED else None,
            campaign_id=row["id"],
            turn=row["turn"],
        )
        data = {"status": row["status"], **_build_details(row)}
        record(session, Action.CAMPAIGN_SENT, event_id=row["event_id"], subject=row["id"], data=data)


def unschedule_campaign(row: Fields) -> None:
    """Cancels the scheduled fan-out. If it has started already, it finds another turn and stops."""
    if row["status"] == SCHEDULED:
        cancel(_build_job_key(row))


def initial_state(fields: Fields) -> str:
    """The state of a campaign with these fields before it is sent."""
    return SENDING if fields.get("send_now") else SCHEDULED if fields.get("scheduled_at") else DRAFT


def find_verb(campaign: Fields, fields: Fields) -> str:
    """What a change of a campaign to these fields is: it is sent, scheduled or a draft from now on, or only changed."""
    state = initial_state(fields)
    is_step = state != campaign["status"] or fields.get("scheduled_at") != campaign["scheduled_at"]
    return _verb(state) if is_step else "changed"


def build_audience(fields: Fields) -> Audience:
    """The audience of a campaign."""
    share = float(fields.get("ab_split_percent") or 50) if fields.get("ab_test_enabled") else 0
    return Audience(
        type=fields["audience_type"],
        channels=fields["channels"],
        respect=fields["respect_preferences"],
        user_ids=fields.get("user_ids") or (),
        filter=fields.get("audience_filter"),
        share_b=share,
    )


def _build_details(fields: Fields) -> dict[str, object]:
    """The stored details of an act: overridden preferences and the scheduled time."""
    details: dict[str, object] = {}
    if fields.get("respect_preferences") is False:
        details["preferencesOverridden"] = True
    if fields.get("scheduled_at"):
        details["scheduledAt"] = rfc3339(fields["scheduled_at"])
    return details


def _verb(state: str) -> str:
    return {SENDING: "sent", SCHEDULED: "scheduled", DRAFT: "drafted"}[state]


def _build_job_key(row: Fields) -> str:
    return f"campaign-fan-out:{row['id']}:{row['turn']}"
