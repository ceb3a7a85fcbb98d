"""Conflicts of the gate: people whom a gate without a network let in, and whom the service would have refused."""

from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.admissions.kinds import IN
from app.admissions.models import Admission
from app.allocations.models import AllocationSlot
from app.events.models import Ticket, TicketType
from app.events.queries import get_event

SORTS: dict[str, ColumnElement[Any]] = {"recordedAt": Admission.recorded_at.expression}
TIME_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
Entry = aliased(Admission, name="entry")


def list_conflicts_query(caller: Caller, event_id: str) -> Select[Any]:
    """The conflicts of an event that nobody has settled by undoing one of the entries. Raises NotFound.

    `entries` has all entries of the place, the earliest first.
    """
    event = get_event(caller, event_id)
    occurred_at = func.to_char(func.timezone("UTC", Entry.occurred_at), TIME_FORMAT)
    entry = func.json_build_object(
        "admission_id", Entry.scan_id, "occurred_at", occurred_at, "gate", Entry.gate, "by", Entry.actor_name
    )
    entries = (
        select(func.json_agg(entry.op("ORDER BY")(Entry.occurred_at)))
        .where(
            Entry.event_id == Admission.event_id,
            (Entry.place_id == Admission.place_id) | (Entry.id == Admission.id),
            Entry.direction == IN,
            Entry.undone_at.is_(None),
        )
        .scalar_subquery()
    )
    return select(
        Admission.id,
        Admission.conflict.label("reason"),
        Admission.place_kind.label("kind"),
        Admission.place_id,
        Admission.code,
        func.coalesce(_name_of(AllocationSlot), _name_of(Ticket)).label("name"),
        select(TicketType.name)
        .where(TicketType.id == Admission.ticket_type_id, TicketType.event_id == Admission.event_id)
        .scalar_subquery()
        .label("ticket_type"),
        Admission.recorded_at,
        entries.label("entries"),
    ).where(Admission.event_id == event.id, Admission.conflict.is_not(None), Admission.undone_at.is_(None))


def _name_of(place: type[AllocationSlot] | type[Ticket]) -> ColumnElement[str | None]:
    return (
        select(place.name)
        .where(place.id == Admission.place_id, place.event_id == Admission.event_id)
        .correlate(Admission)
        .scalar_subquery()
    )
