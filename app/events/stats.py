"""How an event sells: what stands now per ticket type, and what happened per day."""

from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.core.db import db
from app.events import queries
from app.events.availability import FLOWS
from app.events.models import TicketTally, TicketType

STANDING = ("sold", "allocated", "invited", "claimed", "admitted", "revoked", "released")


def ticket_stats(caller: Caller, id: str) -> dict[str, Any]:
    """Figures of one event, from counters kept at write time. Raises NotFound."""
    event = queries.event(caller, id)
    days = _days(id)
    revenue = {each.id: 0 for each in event.ticket_types}
    for day in days:
        revenue[day["ticket_type_id"]] += day["revenue_minor"]
    types = [_type(each, revenue[each.id]) for each in event.ticket_types]
    return {
        **queries.shown(event),
        "totals": _totals(types),
        "ticket_types": types,
        "series": days,
    }


def _days(event_id: str) -> list[dict[str, Any]]:
    flows = [getattr(TicketTally, name) for name in FLOWS]
    rows = db.session.execute(
        select(TicketTally.day, TicketTally.ticket_type_id, *flows)
        .join(TicketType, TicketType.id == TicketTally.ticket_type_id)
        .where(TicketType.event_id == event_id, func.greatest(*(func.abs(each) for each in flows)) > 0)
        .order_by(TicketTally.day, TicketType.position)
    )
    return [dict(row) for row in rows.mappings()]


def _type(row: TicketType, revenue_minor: int) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "total": row.total,
        "oversold": row.oversold,
        "available": row.public,
        **{name: getattr(row, name) for name in STANDING},
        "revenue_minor": revenue_minor,
    }


def _totals(types: list[dict[str, Any]]) -> dict[str, int]:
    names = ("total", "oversold", "available", *STANDING, "revenue_minor")
    return {name: sum(each[name] for each in types) for name in names}
