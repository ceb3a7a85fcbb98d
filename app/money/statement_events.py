"""The events that a bank statement is recorded for, and the columns that people have chosen for earlier statements."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import or_, select

from app.accounts.caller import Caller
from app.allocations.models import Invoice
from app.applications.models import Application
from app.core.db import db
from app.core.transaction import transaction
from app.events.import_mappings import STATEMENT, find_known_columns, remember_mapping
from app.events.models import Event
from app.events.queries import get_event, owned

HAS_PAYMENTS = or_(
    select(Application.id).where(Application.event_id == Event.id).exists(),
    select(Invoice.id).where(Invoice.event_id == Event.id).exists(),
)


class OrganisationEvents(NamedTuple):
    """The events at which transfers of an organisation are recorded, and the names of those that the caller may see."""

    organisation_id: str
    ids: list[str]
    names: dict[str, str]


def find_event_names(caller: Caller, event_id: str | None) -> dict[str, str]:
    """The name of this event, or without one of all events of the caller's organisation with stalls or invoices, by id.

    They are in the order of their ids, in which they are locked. Raises NotFound.
    """
    if event_id is not None:
        event = get_event(caller, event_id)
        return {event.id: event.name}
    is_own = (owned(caller), Event.organiser_id == caller.organisation_id, HAS_PAYMENTS)
    return {
        row.id: row.name for row in db.session.execute(select(Event.id, Event.name).where(*is_own).order_by(Event.id))
    }


def find_organisation_events(caller: Caller, event_ids: Collection[str]) -> OrganisationEvents:
    """All events with stalls or invoices of the organisation that has these events."""
    organisation_id = select(Event.organiser_id).where(Event.id.in_(event_ids)).limit(1).scalar_subquery()
    events = db.session.execute(
        select(Event.organiser_id, Event.id, Event.name, owned(caller).label("is_visible")).where(
            Event.organiser_id == organisation_id, or_(HAS_PAYMENTS, Event.id.in_(event_ids))
        )
    ).all()
    return OrganisationEvents(
        events[0].organiser_id if events else caller.organisation_id,
        [event.id for event in events],
        {event.id: event.name for event in events if event.is_visible},
    )


def find_columns(caller: Caller, event_id: str | None, columns: Sequence[str]) -> tuple[dict[str, str], bool]:
    """`find_known_columns` for a statement of an event, or of all events. Raises NotFound."""
    id = next(iter(find_event_names(caller, event_id)), None)
    return find_known_columns(id, STATEMENT, columns) if id else ({}, False)


def remember_columns(caller: Caller, event_id: str | None, columns: Sequence[str], mapping: Mapping[str, str]) -> None:
    """Keep the column of each field for the organisation's next statement with these columns. Raises NotFound.

    What a member for single events has chosen is not kept: it would count for all events.
    """
    id = next(iter(find_event_names(caller, event_id)), None)
    if id and _has_all_events(caller, id):
        with transaction() as session:
            remember_mapping(session, id, STATEMENT, columns, mapping)


def _has_all_events(caller: Caller, event_id: str) -> bool:
    """Whether the caller may record statements for all events of the organisation that has this event."""
    organisation_id = db.session.scalar(select(Event.organiser_id).where(Event.id == event_id))
    return caller.has_permission_everywhere or organisation_id in caller.grant.organisation_ids
