"""Conflicts of the gate: people whom a gate without a network let in, and whom the service would have refused."""

from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Date, Select, cast, func, select
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.admissions.kinds import IN
from app.admissions.models import Admission
from app.core.db import db
from app.events.models import TicketType
from app.events.queries import OwnEvent, get_event
from app.events.reentry import DAILY_REENTRY, DAY_BEGINS
from app.gate.log import find_guest_name

SORTS: dict[str, ColumnElement[Any]] = {"recordedAt": Admission.recorded_at.expression}
TIME_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
Entry = aliased(Admission, name="entry")


def list_conflicts_query(caller: Caller, event_id: str) -> Select[Any]:
    """The conflicts of an event that nobody has settled by undoing one of the entries. Raises NotFound.

    `entries` has all entries of the place, the earliest first; `surplus` is how many of them are conflicts. Where a ticket
    enters once a day, they are those of the day; `entered` is the place, with that day.
    """
    event = get_event(caller, event_id)
    is_daily = event.reentry == DAILY_REENTRY
    day = _day_of(Admission, event)
    occurred_at = func.to_char(func.timezone("UTC", Entry.occurred_at), TIME_FORMAT)
    entry = func.json_build_object(
        "admission_id", Entry.scan_id, "occurred_at", occurred_at, "gate", Entry.gate, "by", Entry.actor_name
    )
    of_place = (
        Entry.event_id == Admission.event_id,
        (Entry.place_id == Admission.place_id) | (Entry.id == Admission.id),
        Entry.direction == IN,
        Entry.undone_at.is_(None),
        *([_day_of(Entry, event) == day] if is_daily else []),
    )
    entries = select(func.json_agg(entry.op("ORDER BY")(Entry.occurred_at))).where(*of_place).scalar_subquery()
    surplus = select(func.count()).where(*of_place, Entry.conflict.is_not(None)).scalar_subquery()
    return select(
        Admission.id,
        Admission.conflict.label("reason"),
        Admission.place_kind.label("kind"),
        Admission.place_id,
        Admission.code,
        find_guest_name(),
        select(TicketType.name)
        .where(TicketType.id == Admission.ticket_type_id, TicketType.event_id == Admission.event_id)
        .scalar_subquery()
        .label("ticket_type"),
        Admission.recorded_at,
        func.concat(Admission.place_id, " ", day if is_daily else "").label("entered"),
        entries.label("entries"),
        surplus.label("surplus"),
    ).where(Admission.event_id == event.id, Admission.conflict.is_not(None), Admission.undone_at.is_(None))


def _day_of(log: Any, event: OwnEvent) -> ColumnElement[date]:
    """The day of an entry, as `get_entry_day` says."""
    return cast(func.timezone(event.timezone, log.occurred_at) - DAY_BEGINS, Date)


def count_conflicts(event_id: str) -> int:
    """How many conflicts of an event nobody has settled."""
    statement = select(func.count()).where(
        Admission.event_id == event_id, Admission.conflict.is_not(None), Admission.undone_at.is_(None)
    )
    return db.session.scalar(statement) or 0
