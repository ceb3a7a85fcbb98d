"""Ticket types: replacing those of an event, the present price, and the status of the sale.

Types are matched by id, else by name; types that are not sent are removed. The first phase that applies sets the price. A
phase applies between its start and its end while fewer tickets of the type are sold than its quantity and the quantities
of earlier phases add up to: the next phase gets what an early one leaves unsold. If no phase applies, the type's own price
does.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.core.errors import ValidationFailed
from app.core.formatting import format_count
from app.events import availability
from app.events.errors import TicketsCommitted
from app.events.models import Event, PricePhase, TicketType
from app.events.search_words import key_of

Fields = Mapping[str, Any]
PLAIN_FIELDS = (
    "name",
    "description",
    "price_minor",
    "min_per_order",
    "max_per_order",
    "valid_from",
    "valid_until",
)
PHASE_FIELDS = ("name", "starts_at", "ends_at", "price_minor", "quantity")


def list_type_fields(event: Event) -> list[dict[str, Any]]:
    """The ticket types as `replace_ticket_types` takes them."""
    return [
        {
            "id": ticket_type.id,
            **{name: getattr(ticket_type, name) for name in PLAIN_FIELDS},
            "quantity": ticket_type.total,
            "phases": [{name: getattr(phase, name) for name in PHASE_FIELDS} for phase in ticket_type.phases],
        }
        for ticket_type in event.ticket_types
    ]


def replace_ticket_types(session: Session, event: Event, sent_types: Sequence[Fields]) -> bool:
    """Replaces the ticket types; returns whether anything changed. Raises TicketsCommitted, ValidationFailed."""
    by_id = {ticket_type.id: ticket_type for ticket_type in event.ticket_types}
    by_name = {ticket_type.name_key: ticket_type for ticket_type in event.ticket_types}
    _check_ids(sent_types, by_id)
    sent_ids = {fields["id"] for fields in sent_types if fields.get("id")}
    remaining: list[TicketType] = []
    changed = False
    for position, fields in enumerate(sent_types):
        present = by_id.get(fields["id"]) if fields.get("id") else by_name.get(key_of(fields["name"]))
        if present is not None and not fields.get("id") and present.id in sent_ids:
            present = None
        ticket_type, different = _write_type(session, event, present, fields, position)
        remaining.append(ticket_type)
        changed = changed or different
    for ticket_type in event.ticket_types:
        if ticket_type not in remaining:
            _remove(session, ticket_type)
            changed = True
    session.flush()
    set_committed_value(event, "ticket_types", remaining)
    return changed


def _check_ids(sent_types: Sequence[Fields], by_id: Mapping[str, TicketType]) -> None:
    unknown = [index for index, fields in enumerate(sent_types) if fields.get("id") and fields["id"] not in by_id]
    if unknown:
        message = "There is no ticket type with this id in the event; leave the id out to create one."
        raise ValidationFailed(
            [{"path": f"ticket_types[{index}].id", "code": "unknown_value", "message": message} for index in unknown]
        )


def _write_type(
    session: Session, event: Event, present: TicketType | None, fields: Fields, position: int
) -> tuple[TicketType, bool]:
    """The new or changed ticket type, and whether it differs from before."""
    resized = present is not None and present.total != fields["quantity"]
    if present is None:
        ticket_type = TicketType(event_id=event.id, total=fields["quantity"], phases=[])
        session.add(ticket_type)
    else:
        ticket_type = present
        if resized:
            _resize(session, ticket_type, fields["quantity"])
    for name in PLAIN_FIELDS:
        setattr(ticket_type, name, fields.get(name))
    ticket_type.name_key, ticket_type.position = key_of(ticket_type.name), position
    phases_changed = _replace_phases(ticket_type, fields.get("phases") or [])
    return ticket_type, phases_changed or resized or session.is_modified(ticket_type)


def _resize(session: Session, ticket_type: TicketType, quantity: int) -> None:
    committed = ticket_type.sold + ticket_type.allocated
    if not availability.set_total(session, ticket_type.id, quantity):
        raise TicketsCommitted(
            f"{ticket_type.name}: sold or allocated {format_count(committed, 'ticket')}; {quantity} is too few.",
            ticket_type_id=ticket_type.id,
            committed=committed,
        )
    session.expire(ticket_type, ["total", "oversold", "public"])


def _replace_phases(ticket_type: TicketType, sent_phases: Sequence[Fields]) -> bool:
    rows = [tuple(phase.get(name) for name in PHASE_FIELDS) for phase in sent_phases]
    if rows == [tuple(getattr(phase, name) for name in PHASE_FIELDS) for phase in ticket_type.phases]:
        return False
    ticket_type.phases = [
        PricePhase(position=index, **dict(zip(PHASE_FIELDS, row, strict=True))) for index, row in enumerate(rows)
    ]
    return True


def _remove(session: Session, ticket_type: TicketType) -> None:
    if not remove_if_unused(session, ticket_type):
        raise TicketsCommitted(
            f"{ticket_type.name}: tickets were sold or allocated, so it cannot be removed.",
            ticket_type_id=ticket_type.id,
            committed=ticket_type.sold + ticket_type.allocated,
        )


def remove_if_unused(session: Session, ticket_type: TicketType) -> bool:
    """Removes a ticket type without tickets; False when there are some, or a foreign key refuses the removal."""
    unused = (TicketType.sold == 0, TicketType.allocated == 0)
    try:
        with session.begin_nested():
            removed = session.execute(
                delete(TicketType).where(TicketType.id == ticket_type.id, *unused).returning(TicketType.id)
            ).first()
    except IntegrityError:
        removed = None
    if removed is None:
        return False
    session.expunge(ticket_type)
    return True


LOW_SHARE = 10


class Phase(Protocol):
    """A price and its conditions: a `PricePhase`, or a row of its columns."""

    @property
    def name(self) -> str: ...
    @property
    def starts_at(self) -> datetime | None: ...
    @property
    def ends_at(self) -> datetime | None: ...
    @property
    def price_minor(self) -> int: ...
    @property
    def quantity(self) -> int | None: ...


def current_phase(phases: Sequence[Phase], *, sold: int, now: datetime) -> Phase | None:
    """The phase that sets the price; None when the type's own price applies."""
    places = 0
    for phase in phases:
        places += phase.quantity or 0
        if _is_running(phase, now) and (phase.quantity is None or sold < places):
            return phase
    return None


def find_covering_phase(phases: Sequence[Phase], position: int) -> Phase | None:
    """The earlier phase because of which a phase never applies; None if it may apply.

    It has no quantity, and applies during the whole time of the other one, alone or with others that follow on it. Then
    it is the one that applies at the beginning.
    """
    unlimited = [phase for phase in phases[:position] if phase.quantity is None]
    phase = phases[position]
    time, covering = phase.starts_at, None
    while running := [earlier for earlier in unlimited if _runs_from(earlier, time)]:
        covering = covering or running[0]
        ends = [earlier.ends_at for earlier in running if earlier.ends_at is not None]
        if len(ends) < len(running) or (phase.ends_at is not None and max(ends) >= phase.ends_at):
            return covering
        time = max(ends)
    return None


def find_endless_phase(phases: Sequence[Phase]) -> Phase | None:
    """The phase after whose start the type's own price never applies: it has no quantity and no end. None without one."""
    return next((phase for phase in phases if phase.quantity is None and phase.ends_at is None), None)


def list_types_outside(event: Event) -> list[int]:
    """The positions of the ticket types that the gate admits only before the event begins, or after it ends."""
    return [
        position
        for position, ticket_type in enumerate(event.ticket_types)
        if (ticket_type.valid_until is not None and ticket_type.valid_until <= event.starts_at)
        or (ticket_type.valid_from is not None and ticket_type.valid_from >= event.ends_at)
    ]


def _runs_from(phase: Phase, time: datetime | None) -> bool:
    """Whether the phase applies at this time and after it; None is the beginning of the sale."""
    if time is None:
        return phase.starts_at is None
    return (phase.starts_at is None or phase.starts_at <= time) and (phase.ends_at is None or time < phase.ends_at)


def sale_status(phases: Sequence[Phase], *, public: int, total: int, sales_end_at: datetime, now: datetime) -> str:
    """`ended`, `sold_out`, `not_started`, `low` (a tenth or less remains) or `on_sale`."""
    if now >= sales_end_at:
        return "ended"
    if public <= 0:
        return "sold_out"
    if phases and all(phase.starts_at is not None and phase.starts_at > now for phase in phases):
        return "not_started"
    return "low" if public * LOW_SHARE <= total else "on_sale"


def _is_running(phase: Phase, now: datetime) -> bool:
    started = phase.starts_at is None or phase.starts_at <= now
    return started and (phase.ends_at is None or now < phase.ends_at)
