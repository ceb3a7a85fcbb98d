"""Booking tickets that were sold elsewhere: all of a file, or nothing of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app.core.cache_invalidation import invalidate
from app.core.errors import NotFound
from app.core.spreadsheet import Rejected, RowError
from app.core.transaction import transaction
from app.events import availability, queries
from app.events.capacity import capacity_use
from app.events.importing import sql
from app.events.importing.parser import SoldTicket
from app.events.models import Event, TicketType
from app.events.search import key_of
from app.events.time_conversion import to_instant


@dataclass(frozen=True)
class Imported:
    """What an import did, or with a dry run would do."""

    created: int
    updated: int
    unchanged: int
    skipped: int
    new_types: int
    warnings: tuple[str, ...] = ()


class _DryRun(Exception):
    def __init__(self, imported: Imported) -> None:
        super().__init__()
        self.found = imported


def import_tickets(
    *, event_id: str, tickets: Sequence[SoldTicket], create_types: bool, allow_oversell: bool, dry_run: bool
) -> Imported:
    """Books the tickets of a file. A reference that is known is compared and changed, never booked twice.

    Imports into one event wait for each other, and anyone who changes the event for them. Raises NotFound, Rejected.
    """
    try:
        with transaction() as session:
            result = _import(session, event_id, tickets, create_types, allow_oversell)
            if dry_run:
                raise _DryRun(result)
    except _DryRun as dry:
        return dry.found
    return result


def _import(
    session: Session, event_id: str, tickets: Sequence[SoldTicket], create_types: bool, allow_oversell: bool
) -> Imported:
    for setting in sql.PATIENCE:
        session.execute(text(setting))
    session.execute(sql.ALONE, {"event": event_id})
    event = session.scalar(queries.hold_event(select(Event).where(Event.id == event_id)))
    if event is None:
        raise NotFound()
    known = {ticket_type.name_key: ticket_type.id for ticket_type in event.ticket_types}
    new = _new_types(
        session, event, [ticket for ticket in tickets if key_of(ticket.ticket_type) not in known], create_types
    )
    _stage(session, tickets, {**known, **new}, event.timezone)
    session.execute(sql.PLAN, {"event": event_id})
    counts = session.execute(sql.COUNTS).one()
    # Tickets are many. They are written before the rows are locked that blocks and claims wait for.
    _write(session, event_id)
    warnings = _book(session, _locked(session, event_id), allow_oversell)
    if new:
        event.version += 1
    _tally(session)
    invalidate(session, "tickets")
    return Imported(**counts._mapping, new_types=len(new), warnings=warnings)


def _locked(session: Session, event_id: str) -> Event:
    """The event and its ticket types as they are under the lock, whatever was read before."""
    statement = queries.lock_event(select(Event).where(Event.id == event_id))
    event: Event = session.scalars(statement.execution_options(populate_existing=True)).one()
    return event


def _new_types(session: Session, event: Event, tickets: Sequence[SoldTicket], create_types: bool) -> dict[str, str]:
    """Ticket types for names that the event does not have: as many places as were sold, at their usual price."""
    if tickets and not create_types:
        sentence = "The event has no such ticket type; --create-types makes it."
        raise Rejected(
            [RowError(ticket.row, "ticketType", "unknown_value", sentence, ticket.ticket_type) for ticket in tickets]
        )
    by_key: dict[str, list[SoldTicket]] = {}
    for ticket in tickets:
        by_key.setdefault(key_of(ticket.ticket_type), []).append(ticket)
    rows = {
        name_key: TicketType(
            event_id=event.id,
            position=len(event.ticket_types) + index,
            name=group[0].ticket_type,
            name_key=name_key,
            total=sum(item.status == "sold" for item in group),
            price_minor=Counter(item.price_minor or 0 for item in group).most_common(1)[0][0],
            phases=[],
        )
        for index, (name_key, group) in enumerate(by_key.items())
    }
    session.add_all(rows.values())
    if rows:
        invalidate(session, "events")
        session.flush()
    return {name_key: row.id for name_key, row in rows.items()}


def _stage(session: Session, tickets: Iterable[SoldTicket], types: dict[str, str], zone: str) -> None:
    session.execute(sql.STAGING)
    driver = session.connection().connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy(sql.COPY) as copy:
        for ticket in tickets:
            sold_at = to_instant(ticket.sold_at, zone) if ticket.sold_at else None
            type_id = types[key_of(ticket.ticket_type)]
            copy.write_row(
                (
                    ticket.row,
                    ticket.reference,
                    type_id,
                    ticket.name,
                    ticket.email,
                    ticket.price_minor,
                    sold_at,
                    ticket.status,
                )
            )


def _book(session: Session, event: Event, allow_oversell: bool) -> tuple[str, ...]:
    """Counts what is sold now; warnings of what was oversold. Raises Rejected."""
    deltas = {row.id: row.delta for row in session.execute(sql.DELTAS)}
    errors, warnings = _check_capacity(session, event, sum(deltas.values()), allow_oversell)
    for row in session.execute(sql.LOCK, {"ids": list(deltas)}).all():
        delta = deltas[row.id]
        if delta > row.public and not allow_oversell:
            at = session.scalar(sql.FIRST_BEYOND, {"id": row.id, "free": row.public}) or 0
            sentence = (
                f"{delta} more would be sold, and only {row.public} of {row.total} are free; "
                "--allow-oversell books the surplus."
            )
            errors.append(RowError(at, "ticketType", "sold_out", sentence, row.name))
        else:
            availability.book_sold(session, row.id, delta)
    if errors:
        raise Rejected(errors)
    return tuple(warnings)


def _check_capacity(
    session: Session, event: Event, count: int, allow_oversell: bool
) -> tuple[list[RowError], list[str]]:
    """The error, or with `allow_oversell` the warning, when the event has no room for so many more sold tickets."""
    use = capacity_use(event)
    beyond = use.exceeded_by(count)
    if count <= 0 or not beyond:
        return [], []
    if allow_oversell:
        sold = f"{use.sold + count} sold and {use.allocated} allocated"
        return [], [f"{sold} are {beyond} more than the capacity of {use.capacity}."]
    at = session.scalar(sql.LAST_BEYOND, {"beyond": min(beyond, count) - 1}) or 0
    sentence = (
        f"{count} more would be sold; {use.sold} sold and {use.allocated} allocated leave {use.available(count)} of "
        f"the event's capacity of {use.capacity}. --allow-oversell books the surplus."
    )
    return [RowError(at, "ticketType", "sold_out", sentence, event.name)], []


def _write(session: Session, event_id: str) -> None:
    session.execute(sql.INSERT, {"event": event_id})
    session.execute(sql.UPDATE)


def _tally(session: Session) -> None:
    touched = {"ids": list(session.scalars(sql.TOUCHED))}
    session.execute(sql.UNTALLY, touched)
    session.execute(sql.TALLY, touched)
