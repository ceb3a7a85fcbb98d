"""Reads of campaigns, and the search for people of an event. Each checks that the caller may read the event.

The search finds ticket holders and participating merchants. Holders come from search indexes; participants of one event
are few. The id is that of a ticket or slot, or of a merchant's account; campaigns accept both as `user_ids`. The result
does not show whether a holder has an account.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Label, RowMapping, Select, Table, and_, case, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import JSONB

from app.accounts.caller import Caller
from app.allocations.models import AllocationBlock
from app.allocations.queries import block_name_sql
from app.allocations.will_call import build_tsquery
from app.campaigns.audience_sql import FIND_PEOPLE
from app.campaigns.campaign_store import CAMPAIGN
from app.campaigns.message_templates import PLACEHOLDERS, TEMPLATES, Template
from app.campaigns.models import Campaign, Recipient, Tally
from app.campaigns.states import FAILED, SETTLED, UNCERTAIN
from app.core.addresses import mask_address
from app.core.db import db, fetch_rows
from app.core.errors import NotFound
from app.events.models import Event, TicketType
from app.events.queries import owned, ownership_params
from app.events.search_words import contains_sql

ListQuery = Select[Any]
"""A list that the caller sorts and pages."""
CampaignRow = RowMapping
MAX_CHOICES = 200
RECIPIENT = cast(Table, Recipient.__table__).c
SORTS: dict[str, ColumnElement[Any]] = {"created_at": CAMPAIGN.created_at}
UNDELIVERED = (FAILED, UNCERTAIN)
RECIPIENT_SORTS: dict[str, ColumnElement[Any]] = {"id": RECIPIENT.id}
PERSON_SORTS = {**RECIPIENT_SORTS, "address": RECIPIENT.person}
ERASED_PERSON = RECIPIENT.person.like("erased:%")
ADDRESS = case((ERASED_PERSON, None), (RECIPIENT.channel == "push", RECIPIENT.person), else_=RECIPIENT.address).label(
    "address"
)
"""Where a message went: to the devices of an account by its e-mail address, and nowhere of an erased person."""
RECIPIENT_COLUMNS = (*(column for column in RECIPIENT if column.name != "address"), ADDRESS)
_FIGURES = ", ".join(f"'{figure}', sum({figure})" for figure in ("total", *SETTLED, "clicked"))
TALLIES: Label[Any] = literal_column(
    f"""(SELECT jsonb_object_agg(t.variant, t.figures) FROM (
            SELECT variant, jsonb_build_object({_FIGURES}) AS figures
              FROM campaign_tally WHERE campaign_tally.campaign_id = campaign.id AND campaign_tally.event_id = campaign.event_id
             GROUP BY variant) t)""",
    JSONB,
).label("tallies")
HISTORY: Label[Any] = literal_column(
    """(SELECT jsonb_agg(jsonb_build_object('verb', a.verb, 'actor_id', a.account_id, 'at',
                             to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'details', a.details)
                         ORDER BY a.id)
          FROM campaign_act a WHERE a.campaign_id = campaign.id AND a.event_id = campaign.event_id)""",
    JSONB,
).label("history")

UNSUBSCRIBED: Label[Any] = literal_column(
    """(SELECT coalesce(jsonb_object_agg(v.variant, v.people), '{}') FROM (
            SELECT r.variant, count(DISTINCT r.person) AS people
              FROM unsubscribe u JOIN campaign_recipient r ON r.person = u.address
             WHERE (u.organiser_id = event.organiser_id OR u.organiser_id IS NULL) AND NOT u.by_organiser
               AND u.created_at >= campaign.started_at AND u.created_at >= r.settled_at
               AND r.campaign_id = campaign.id AND r.event_id = campaign.event_id AND r.state IN ('sent', 'uncertain')
             GROUP BY r.variant) v)""",
    JSONB,
).label("unsubscribed_people")
"""Of each variant, the people who stopped the messages of the organiser, or of all, after this one was sent to them."""


class Placeholder(NamedTuple):
    """A placeholder and its meaning."""

    name: str
    description: str


class TextChoices(NamedTuple):
    """The templates and the placeholders of texts."""

    templates: list[Template]
    placeholders: list[Placeholder]


class AudienceChoices(NamedTuple):
    """What an audience is chosen by: pairs of id and name."""

    ticket_types: list[tuple[str, str]]
    blocks: list[tuple[str, str]]


def check_event_access(caller: Caller, event_id: str) -> None:
    """Raises NotFound unless the caller has the permission of the route for the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller))) is None:
        raise NotFound()


def list_campaigns_query(caller: Caller, event_id: str, *, status: str | None = None) -> ListQuery:
    """An event's campaigns with their figures. Raises NotFound."""
    check_event_access(caller, event_id)
    statement = select(*CAMPAIGN, TALLIES).where(CAMPAIGN.event_id == event_id)
    return statement if status is None else statement.where(CAMPAIGN.status == status)


def list_campaigns_with_sums_query(caller: Caller, event_id: str, *, status: str | None = None) -> ListQuery:
    """As `list_campaigns_query`, with the figures as columns, `channel_names`, and the event's `timezone`."""
    sums = [
        select(func.sum(getattr(Tally, name)))
        .where(Tally.campaign_id == CAMPAIGN.id, Tally.event_id == CAMPAIGN.event_id)
        .scalar_subquery()
        .label(name)
        for name in ("total", *SETTLED)
    ]
    channel_names = func.array_to_string(CAMPAIGN.channels, ", ").label("channel_names")
    zone = select(Event.timezone).where(Event.id == CAMPAIGN.event_id).scalar_subquery().label("timezone")
    return list_campaigns_query(caller, event_id, status=status).add_columns(*sums, channel_names, zone)


def get_campaign(caller: Caller, event_id: str, campaign_id: str) -> CampaignRow:
    """A campaign with its figures and its acts. Raises NotFound."""
    return _fetch_one(select(*CAMPAIGN, TALLIES, HISTORY), caller, event_id, campaign_id)


def get_campaign_with_results(caller: Caller, event_id: str, campaign_id: str) -> CampaignRow:
    """A campaign as `get_campaign`, with the people who unsubscribed since it was sent. Raises NotFound."""
    return _fetch_one(select(*CAMPAIGN, TALLIES, UNSUBSCRIBED, HISTORY), caller, event_id, campaign_id)


def get_campaign_to_copy(caller: Caller, event_id: str, campaign_id: str) -> CampaignRow:
    """A campaign and its event's time zone, for a caller who may write campaigns of the event. Raises NotFound."""
    return _fetch_one(select(*CAMPAIGN, Event.timezone), caller, event_id, campaign_id)


def build_figures(tally: Mapping[str, int]) -> dict[str, int]:
    """The figures of a variant from its entry in `tallies`; `pending` is the rest of the total."""
    known = {name: int(tally.get(name, 0)) for name in ("total", *SETTLED, "clicked")}
    return {**known, "pending": known["total"] - sum(known[name] for name in SETTLED)}


def list_uncertain_query(caller: Caller, event_id: str, campaign_id: str) -> ListQuery:
    """The recipients whose message may or may not have arrived. Raises NotFound."""
    return list_recipients_query(caller, event_id, campaign_id, state=UNCERTAIN)


def list_recipients_query(
    caller: Caller,
    event_id: str,
    campaign_id: str,
    *,
    q: str | None = None,
    state: str | None = None,
    finds_addresses: bool = False,
) -> ListQuery:
    """The recipients of a campaign, once on each channel. Raises NotFound.

    `q` is a part of the name or a whole address, and with `finds_addresses` also a part of an address: who sees masked
    addresses only must not guess them letter by letter.
    """
    _fetch_one(select(CAMPAIGN.id), caller, event_id, campaign_id)
    statement = (
        select(*RECIPIENT_COLUMNS, Event.timezone)
        .join(Event, Event.id == RECIPIENT.event_id)
        .where(RECIPIENT.campaign_id == campaign_id, RECIPIENT.event_id == event_id)
    )
    if state is not None:
        statement = statement.where(RECIPIENT.state == state)
    if not q:
        return statement
    address = q.lower()
    if finds_addresses:
        is_number = (RECIPIENT.channel == "sms") & RECIPIENT.address.contains(address, autoescape=True)
        matches = RECIPIENT.person.contains(address, autoescape=True) | is_number
    else:
        matches = (RECIPIENT.person == address) | ((RECIPIENT.channel == "sms") & (RECIPIENT.address == address))
    return statement.where(contains_sql(RECIPIENT.name, q) | (matches & ~ERASED_PERSON))


def list_undelivered_query(
    caller: Caller, event_id: str, *, campaign_id: str | None = None, state: str | None = None
) -> ListQuery:
    """The messages of an event, or of one campaign, that failed or whose arrival is uncertain. Raises NotFound."""
    check_event_access(caller, event_id)
    statement = (
        select(*RECIPIENT_COLUMNS, CAMPAIGN.name.label("campaign_name"), Event.timezone)
        .join(Campaign, and_(CAMPAIGN.id == RECIPIENT.campaign_id, CAMPAIGN.event_id == RECIPIENT.event_id))
        .join(Event, Event.id == CAMPAIGN.event_id)
        .where(CAMPAIGN.event_id == event_id, has_not_arrived(state))
    )
    return statement if campaign_id is None else statement.where(RECIPIENT.campaign_id == campaign_id)


def has_not_arrived(state: str | None = None) -> ColumnElement[bool]:
    """The condition that a message failed or is uncertain, or is in that one of these states."""
    # Each state by itself, because each has an index of its own.
    return or_(*(RECIPIENT.state == value for value in UNDELIVERED if state in (None, value)))


def list_audience_choices(caller: Caller, event_id: str) -> AudienceChoices:
    """The ticket types and blocks of an event, by which an audience is chosen: the id and name of each. Raises NotFound."""
    check_event_access(caller, event_id)
    ticket_types = select(TicketType.id, TicketType.name).where(TicketType.event_id == event_id)
    block_name = func.coalesce(block_name_sql(), "")
    blocks = select(AllocationBlock.id, block_name).where(AllocationBlock.event_id == event_id)
    return AudienceChoices(
        [(id, name) for id, name in db.session.execute(ticket_types.order_by(TicketType.position))],
        [
            (id, name)
            for id, name in db.session.execute(blocks.order_by(block_name, AllocationBlock.id).limit(MAX_CHOICES))
        ],
    )


def list_templates(caller: Caller, event_id: str) -> TextChoices:
    """The templates, and the placeholders of texts. Raises NotFound."""
    check_event_access(caller, event_id)
    placeholders = [Placeholder(name, description) for name, description in PLACEHOLDERS.items()]
    return TextChoices(list(TEMPLATES.values()), placeholders)


def _fetch_one(statement: Select[object], caller: Caller, event_id: str, campaign_id: str) -> CampaignRow:
    query = statement.join(Event, Event.id == CAMPAIGN.event_id).where(
        CAMPAIGN.id == campaign_id, CAMPAIGN.event_id == event_id, owned(caller)
    )
    row = db.session.execute(query).mappings().first()
    if row is None:
        raise NotFound()
    return row


class Person(NamedTuple):
    """A person of an event, with a masked e-mail address."""

    id: str
    name: str | None
    email: str | None
    participates: bool
    tickets: int


def search_recipients(caller: Caller, event_id: str, *, q: str) -> list[Person]:
    """Up to twenty people by the beginnings of words of name, e-mail address or ticket. Raises NotFound."""
    parameters = {
        "event_id": event_id,
        **ownership_params(caller),
        "words": build_tsquery(q, event_id),
        "plain": q.lower(),
    }
    rows = fetch_rows(FIND_PEOPLE, parameters, prepare=False)
    if not rows:
        raise NotFound()
    people = [Person(*row) for row in rows if row[0] is not None]
    return [person._replace(email=mask_address(person.email)) for person in people]
