"""How an event sells: what stands now per ticket type, and what happened per day."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.core.db import db
from app.events import queries
from app.events.availability import FLOWS
from app.events.capacity import CapacityUse, capacity_use
from app.events.models import TicketAdmission, TicketTally, TicketType

STANDING = ("sold", "allocated", "invited", "claimed", "admitted", "revoked", "released")


def ticket_stats(caller: Caller, id: str) -> dict[str, Any]:
    """Figures of one event, from counters kept at write time. Raises NotFound."""
    event = queries.event(caller, id)
    admitted = _admitted(id)
    days, use = _days(event.ticket_types, admitted), capacity_use(event)
    revenue, inside = ({ticket_type.id: 0 for ticket_type in event.ticket_types} for _ in range(2))
    for day in days:
        revenue[day["ticket_type_id"]] += day["revenue_minor"]
        inside[day["ticket_type_id"]] += day["admitted"]
    types = [
        _type(ticket_type, use, revenue[ticket_type.id], inside[ticket_type.id]) for ticket_type in event.ticket_types
    ]
    return {
        **queries.serialize_event(event),
        "totals": _totals(types, use),
        "ticket_types": types,
        "series": days,
    }


def _days(types: Sequence[TicketType], admitted: Mapping[tuple[date, str], int]) -> list[dict[str, Any]]:
    flows = [getattr(TicketTally, name) for name in FLOWS]
    places = {type_.id: type_.position for type_ in types}
    rows = db.session.execute(
        select(TicketTally.day, TicketTally.ticket_type_id, *flows).where(TicketTally.ticket_type_id.in_(places))
    )
    nothing = dict.fromkeys(FLOWS, 0)
    values = {(row["day"], row["ticket_type_id"]): dict(row) for row in rows.mappings()}
    for (day, type_id), count in admitted.items():
        row = values.setdefault((day, type_id), {"day": day, "ticket_type_id": type_id, **nothing})
        row["admitted"] = count
    items = [row for row in values.values() if any(row[name] for name in FLOWS)]
    return sorted(items, key=lambda row: (row["day"], places[row["ticket_type_id"]]))


def _admitted(event_id: str) -> dict[tuple[date, str], int]:
    """How many came in, by day and ticket type."""
    counted = select(TicketAdmission.day, TicketAdmission.ticket_type_id, func.sum(TicketAdmission.count))
    rows = db.session.execute(
        counted.join(TicketType, TicketType.id == TicketAdmission.ticket_type_id)
        .where(TicketType.event_id == event_id)
        .group_by(TicketAdmission.day, TicketAdmission.ticket_type_id)
    )
    return {(day, type_id): count for day, type_id, count in rows}


def _type(row: TicketType, use: CapacityUse, revenue_minor: int, admitted: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "total": row.total,
        "oversold": row.oversold,
        "available": use.available(row.public),
        **{name: getattr(row, name) for name in STANDING},
        "claimed": row.claimed - admitted,
        "admitted": admitted,
        "revenue_minor": revenue_minor,
    }


def _totals(types: list[dict[str, Any]], use: CapacityUse) -> dict[str, int]:
    names = ("total", "oversold", "available", *STANDING, "revenue_minor")
    totals = {name: sum(type_[name] for type_ in types) for name in names}
    return {**totals, "available": use.available(totals["available"])}
