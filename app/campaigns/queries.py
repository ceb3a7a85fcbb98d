"""Reads of campaigns, always through the event's owner."""

from typing import Any, cast

from sqlalchemy import Select, Table, literal_column, select
from sqlalchemy.dialects.postgresql import JSONB

from app.accounts.caller import Caller
from app.campaigns.campaign_store import CAMPAIGN
from app.campaigns.models import Recipient
from app.campaigns.placeholders import PLACEHOLDERS
from app.campaigns.states import SETTLED, UNCERTAIN
from app.campaigns.templates import TEMPLATES, Template
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import READS, WRITES, owned

RECIPIENT = cast(Table, Recipient.__table__).c
SORTS: dict[str, Any] = {"createdAt": CAMPAIGN.created_at}
RECIPIENT_SORTS: dict[str, Any] = {"id": RECIPIENT.id}
_FIGURES = ", ".join(f"'{item}', sum({item})" for item in ("total", *SETTLED, "clicked"))
TALLIES: Any = literal_column(
    f"""(SELECT jsonb_object_agg(t.variant, t.figures) FROM (
            SELECT variant, jsonb_build_object({_FIGURES}) AS figures
              FROM campaign_tally WHERE campaign_tally.campaign_id = campaign.id GROUP BY variant) t)""",
    JSONB,
).label("tallies")
HISTORY: Any = literal_column(
    """(SELECT jsonb_agg(jsonb_build_object('verb', a.verb, 'actorId', a.account_id, 'at',
                             to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'details', a.details)
                         ORDER BY a.id)
          FROM campaign_act a WHERE a.campaign_id = campaign.id)""",
    JSONB,
).label("history")


def load_placeholder_facts(caller: Caller, event_id: str, *, tier: str = READS) -> Any:
    """The id and time zone of an event whose campaigns the caller may see. Raises NotFound."""
    statement = select(Event.id, Event.timezone).where(Event.id == event_id, owned(caller, tier))
    row = db.session.execute(statement).first()
    if row is None:
        raise NotFound()
    return row


def list_campaigns_query(caller: Caller, event_id: str, *, status: str | None = None) -> Select[Any]:
    """An event's campaigns with their figures. Raises NotFound."""
    load_placeholder_facts(caller, event_id)
    statement = select(*CAMPAIGN, TALLIES).where(CAMPAIGN.event_id == event_id)
    return statement if status is None else statement.where(CAMPAIGN.status == status)


def get_campaign(caller: Caller, event_id: str, campaign_id: str) -> dict[str, Any]:
    """One campaign with its figures and what was done with it. Raises NotFound."""
    statement = select(*CAMPAIGN, TALLIES, HISTORY)
    return dict(_fetch_one(statement, caller, event_id, campaign_id, READS))


def get_campaign_fields(caller: Caller, event_id: str, campaign_id: str) -> Any:
    """A campaign to make another from, and its event's time zone. Raises NotFound."""
    return _fetch_one(select(*CAMPAIGN, Event.timezone), caller, event_id, campaign_id, WRITES)


def list_uncertain_query(caller: Caller, event_id: str, campaign_id: str) -> Select[Any]:
    """The recipients of whom nobody knows whether the message reached them. Raises NotFound."""
    _fetch_one(select(CAMPAIGN.id), caller, event_id, campaign_id, READS)
    return select(*RECIPIENT).where(RECIPIENT.campaign_id == campaign_id, RECIPIENT.state == UNCERTAIN)


def list_templates(caller: Caller, event_id: str) -> dict[str, Any]:
    """The templates, and what can be filled in. Raises NotFound."""
    load_placeholder_facts(caller, event_id)
    placeholders = [{"name": name, "description": result} for name, result in PLACEHOLDERS.items()]
    return {
        "templates": [_serialize_campaign(template) for template in TEMPLATES.values()],
        "placeholders": placeholders,
    }


def _serialize_campaign(template: Template) -> dict[str, Any]:
    return {**vars(template), "placeholders": template.placeholders}


def _fetch_one(statement: Select[Any], caller: Caller, event_id: str, campaign_id: str, tier: str) -> Any:
    query = statement.join(Event, Event.id == CAMPAIGN.event_id).where(
        CAMPAIGN.id == campaign_id, CAMPAIGN.event_id == event_id, owned(caller, tier)
    )
    row = db.session.execute(query).mappings().first()
    if row is None:
        raise NotFound()
    return row
