"""Statistics of an event: present counters per ticket type, and figures per day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_READ
from app.core.db import db
from app.events import queries
from app.events.availability import FLOWS
from app.events.capacity import CapacityUse, capacity_use
from app.events.event_rows import belongs_to
from app.events.models import TicketAdmission, TicketImport, TicketTally, TicketType


@dataclass(kw_only=True)
class DayStats:
    """What came into each bucket of a ticket type on one day of the event's time zone."""

    day: date
    ticket_type_id: str
    sold: int = 0
    allocated: int = 0
    invited: int = 0
    claimed: int = 0
    admitted: int = 0
    revoked: int = 0
    released: int = 0
    revenue_minor: int = 0


@dataclass(frozen=True, kw_only=True)
class TypeStats:
    """The present counters of a ticket type."""

    id: str
    name: str
    total: int
    oversold: int
    available: int
    sold: int
    allocated: int
    invited: int
    claimed: int
    admitted: int
    revoked: int
    released: int
    revenue_minor: int


SUMMED = (
    "total",
    "oversold",
    "available",
    "sold",
    "allocated",
    "invited",
    "claimed",
    "admitted",
    "revoked",
    "released",
    "revenue_minor",
)


def ticket_stats(caller: Caller, id: str) -> dict[str, object]:
    """The event with `totals`, `ticket_types`, `sources` and the `series` of days, from stored counters.

    A source is a format with the number of tickets that its imports added, without those undone. Raises NotFound.
    The revenue is None for a caller who may not read the event's money.
    """
    event = queries.get_event(caller, id)
    days = _load_days(event.ticket_types, _load_admissions(id))
    use = capacity_use(event)
    types = [_build_type_stats(ticket_type, use, days) for ticket_type in event.ticket_types]
    totals = {name: sum(getattr(type_stats, name) for type_stats in types) for name in SUMMED}
    may_read_money = caller.may(MONEY_READ, organisation_id=event.organiser_id, event_id=event.id)
    hidden_fields = {} if may_read_money else {"revenue_minor": None}
    return {
        **queries.serialize_event(caller, event),
        "totals": {**totals, "available": use.available(totals["available"]), **hidden_fields},
        "ticket_types": [{**vars(type_stats), **hidden_fields} for type_stats in types],
        "sources": _load_sources(id),
        "series": [{**vars(day_stats), **hidden_fields} for day_stats in days],
    }


def _load_days(types: Sequence[TicketType], admissions: Mapping[tuple[date, str], int]) -> list[DayStats]:
    """The days with any figure above or below zero, in the order of days and ticket types."""
    flows = [getattr(TicketTally, name) for name in FLOWS]
    positions = {ticket_type.id: ticket_type.position for ticket_type in types}
    rows = db.session.execute(
        select(TicketTally.day, TicketTally.ticket_type_id, *flows).where(TicketTally.ticket_type_id.in_(positions))
    )
    days = {(row["day"], row["ticket_type_id"]): DayStats(**row) for row in rows.mappings()}
    for (day, type_id), count in admissions.items():
        days.setdefault((day, type_id), DayStats(day=day, ticket_type_id=type_id)).admitted = count
    used_days = [stats for stats in days.values() if any(getattr(stats, name) for name in FLOWS)]
    return sorted(used_days, key=lambda stats: (stats.day, positions[stats.ticket_type_id]))


def _load_sources(event_id: str) -> list[dict[str, object]]:
    count = func.sum(TicketImport.created)
    rows = db.session.execute(
        select(TicketImport.format, count)
        .where(TicketImport.event_id == event_id, TicketImport.undone_at.is_(None))
        .group_by(TicketImport.format)
        .having(count > 0)
        .order_by(count.desc(), TicketImport.format)
    )
    return [{"format": format, "tickets": tickets} for format, tickets in rows]


def _load_admissions(event_id: str) -> dict[tuple[date, str], int]:
    """Admitted places by day and ticket type."""
    counts = select(TicketAdmission.day, TicketAdmission.ticket_type_id, func.sum(TicketAdmission.count))
    rows = db.session.execute(
        counts.join(TicketType, belongs_to(TicketAdmission.ticket_type_id, TicketType))
        .where(TicketType.event_id == event_id)
        .group_by(TicketAdmission.day, TicketAdmission.ticket_type_id)
    )
    return {(day, type_id): count for day, type_id, count in rows}


def _build_type_stats(ticket_type: TicketType, use: CapacityUse, days: Sequence[DayStats]) -> TypeStats:
    own_days = [stats for stats in days if stats.ticket_type_id == ticket_type.id]
    admitted = sum(stats.admitted for stats in own_days)
    return TypeStats(
        id=ticket_type.id,
        name=ticket_type.name,
        total=ticket_type.total,
        oversold=ticket_type.oversold,
        available=use.available(ticket_type.public),
        sold=ticket_type.sold,
        allocated=ticket_type.allocated,
        invited=ticket_type.invited,
        claimed=ticket_type.claimed - admitted,
        admitted=admitted,
        revoked=ticket_type.revoked,
        released=ticket_type.released,
        revenue_minor=sum(stats.revenue_minor for stats in own_days),
    )
