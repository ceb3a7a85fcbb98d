"""Making an event's ticket types what was sent: named by id, or else by name; those not named go."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.core.errors import ValidationFailed
from app.events import availability
from app.events.errors import TicketsCommitted
from app.events.models import Event, PricePhase, TicketType
from app.events.search import key_of

PLAIN = ("name", "description", "price_minor", "min_per_order", "max_per_order")


def put(session: Session, event: Event, valuess: Sequence[Mapping[str, Any]]) -> bool:
    """Whether anything changed. Raises TicketsCommitted, ValidationFailed."""
    present = {ticket_type.id: ticket_type for ticket_type in event.ticket_types}
    by_name = {ticket_type.name_key: ticket_type for ticket_type in event.ticket_types}
    _check_ids(valuess, present)
    named = {item["id"] for item in valuess if item.get("id")}
    kept: list[TicketType] = []
    changed = False
    for position, item in enumerate(valuess):
        value = present.get(item["id"]) if item.get("id") else by_name.get(key_of(item["name"]))
        if value is not None and not item.get("id") and value.id in named:
            value = None
        row, different = _put_one(session, event, value, item, position)
        kept.append(row)
        changed = changed or different
    for gone in [ticket_type for ticket_type in event.ticket_types if ticket_type not in kept]:
        _remove(session, gone)
        changed = True
    session.flush()
    set_committed_value(event, "ticket_types", kept)
    return changed


def _check_ids(valuess: Sequence[Mapping[str, Any]], present: Mapping[str, TicketType]) -> None:
    unknown = [index for index, item in enumerate(valuess) if item.get("id") and item["id"] not in present]
    if unknown:
        sentence = "There is no ticket type with this id in the event; leave the id out to create one."
        raise ValidationFailed(
            [{"path": f"ticketTypes[{index}].id", "code": "unknown_value", "message": sentence} for index in unknown]
        )


def _put_one(
    session: Session, event: Event, row: TicketType | None, sent: Mapping[str, Any], position: int
) -> tuple[TicketType, bool]:
    resized = row is not None and row.total != sent["quantity"]
    if row is None:
        row = TicketType(event_id=event.id, total=sent["quantity"], phases=[])
        session.add(row)
    elif resized:
        _resize(session, row, sent["quantity"])
    for name in PLAIN:
        setattr(row, name, sent.get(name))
    row.name_key, row.position = key_of(row.name), position
    return row, _put_phases(row, sent.get("phases") or []) or resized or session.is_modified(row)


def _resize(session: Session, row: TicketType, quantity: int) -> None:
    if not availability.set_total(session, row.id, quantity):
        raise TicketsCommitted(
            f"{row.name}: {row.sold + row.allocated} tickets are sold or allocated; {quantity} is too few.",
            ticketTypeId=row.id,
            committed=row.sold + row.allocated,
        )
    session.expire(row, ["total", "oversold", "public"])


def _put_phases(row: TicketType, sent: Sequence[Mapping[str, Any]]) -> bool:
    names = ("name", "starts_at", "ends_at", "price_minor", "quantity")
    items = [tuple(item.get(name) for name in names) for item in sent]
    if items == [tuple(getattr(phase, name) for name in names) for phase in row.phases]:
        return False
    row.phases = [PricePhase(position=index, **dict(zip(names, item, strict=True))) for index, item in enumerate(items)]
    return True


def _remove(session: Session, row: TicketType) -> None:
    """Removes a type that nothing hangs on: the rows that would, refuse."""
    nothing = (TicketType.sold == 0, TicketType.allocated == 0)
    try:
        with session.begin_nested():
            removed = session.execute(
                delete(TicketType).where(TicketType.id == row.id, *nothing).returning(TicketType.id)
            ).first()
    except IntegrityError:
        removed = None
    if removed is None:
        raise TicketsCommitted(
            f"{row.name}: tickets were sold or allocated, so it cannot be removed.",
            ticketTypeId=row.id,
            committed=row.sold + row.allocated,
        )
    session.expunge(row)
