"""Importing tickets that were sold elsewhere: all tickets of a file, or none."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Row, func, select, text
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.context import Actor
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound, ValidationFailed
from app.core.spreadsheet import Rejected, RowError
from app.core.transaction import transaction
from app.events import queries, ticket_booking, ticket_import_sql
from app.events.availability import book_sold, set_total
from app.events.capacity import capacity_use
from app.events.models import Event, TicketImport, TicketType
from app.events.search_words import key_of
from app.events.ticket_files import SoldTicket
from app.events.ticket_import_result import (
    CancelledTicket,
    ImportResult,
    ImportSource,
    UnpricedType,
    list_first_tickets,
)
from app.events.timezones import to_instant

MAX_LISTED = 50
OF_EVENT_HAS_THIS_SECRET = "of this event has this secret."


class UnknownTypes(Rejected):
    """The file has ticket types that the event lacks; `names` counts the rows of each."""

    def __init__(self, tickets: Sequence[SoldTicket]) -> None:
        message = "The event has no such ticket type; --create-types (createTypes) makes it."
        super().__init__(
            [RowError(ticket.row, "ticketType", "unknown_value", message, ticket.ticket_type) for ticket in tickets]
        )
        self.names = Counter(ticket.ticket_type for ticket in tickets)


class _DryRun(Exception):
    def __init__(self, result: ImportResult) -> None:
        super().__init__()
        self.result = result


def import_tickets(
    *,
    event_id: str,
    tickets: Sequence[SoldTicket],
    source: ImportSource,
    create_types: bool,
    allow_oversell: bool,
    raise_totals: bool = False,
    dry_run: bool,
    type_ids: Mapping[str, str] | None = None,
    new_types: Collection[str] = (),
    rows_by_type: Mapping[str, int] | None = None,
    limit_statements: Sequence[str] = (),
    actor: Actor | None = None,
    on_result: Callable[[ReadOrWriteSession, ImportResult], None] | None = None,
) -> ImportResult:
    """Books the tickets of a file. A ticket with a known reference is compared and updated, never booked twice.

    `type_ids` has the ticket types of the event for names in the file that the event lacks, `new_types` has those that become
    new ones; `create_types` makes all of them. `rows_by_type` has how many rows
    of each type the whole file has, where `tickets` are a part of it: a new type has places for the others too. With
    `raise_totals` a ticket type with too few places gets as many as are sold. `limit_statements` sets how
    long the transaction may take and wait; without them the limits of a request count. `actor` is who imports, where
    that is not the caller of the request. `on_result` runs in the transaction of the import, and not in a dry run.
    Imports into one event, and their undos, run one after the other, and changes of the event wait for them. Raises
    NotFound, Rejected, ValidationFailed.
    """
    try:
        with transaction() as session:
            for statement in limit_statements:
                session.execute(text(statement))
            result = _import(
                session,
                event_id,
                tickets,
                source,
                type_ids or {},
                rows_by_type or {},
                None if create_types else {key_of(name) for name in new_types},
                allow_oversell,
                raise_totals,
                dry_run,
            )
            if dry_run:
                raise _DryRun(replace(result, import_id=None))
            counts = {"created": result.created, "updated": result.updated, "newTypes": result.new_types}
            data = {
                "import": result.import_id,
                **counts,
                **({"raisedTypes": result.raised_types} if result.raised_types else {}),
            }
            record(session, Action.TICKETS_IMPORTED, caller=actor, event_id=event_id, subject=event_id, data=data)
            if on_result is not None:
                on_result(session, result)
    except _DryRun as dry_run_end:
        return dry_run_end.result
    return result


def _import(
    session: Session,
    event_id: str,
    tickets: Sequence[SoldTicket],
    source: ImportSource,
    chosen_type_ids: Mapping[str, str],
    rows_by_type: Mapping[str, int],
    new_keys: Collection[str] | None,
    allow_oversell: bool,
    raise_totals: bool,
    dry_run: bool,
) -> ImportResult:
    """Book the tickets. `new_keys` has the keys of names that become ticket types, None stands for all.

    A dry run leaves out what takes long and finds nothing: writing the tickets and their figures.
    """
    ticket_booking.lock_imports(session, event_id)
    event = session.scalar(queries.hold_event(select(Event).where(Event.id == event_id)))
    if event is None:
        raise NotFound()
    type_ids = _match_types(event, chosen_type_ids)
    of_unknown_type = [ticket for ticket in tickets if key_of(ticket.ticket_type) not in type_ids]
    created_types = _create_types(session, event, of_unknown_type, rows_by_type, new_keys)
    new_type_ids = {ticket_type.name_key: ticket_type.id for ticket_type in created_types}
    _fill_staging(session, tickets, {**type_ids, **new_type_ids}, event.timezone)
    session.execute(ticket_import_sql.CREATE_PLAN)
    session.execute(ticket_import_sql.PLAN_IMPORT, {"event": event_id})
    _check_plan(session, event_id)
    missing = session.scalar(ticket_import_sql.COUNT_MISSING, {"event": event_id}) or 0
    counts = session.execute(ticket_import_sql.COUNT_PLAN).one()
    new_tickets = session.execute(ticket_import_sql.SUM_NEW_TICKETS).one()
    listed = {"event": event_id, "limit": MAX_LISTED}
    cancelled = session.execute(ticket_import_sql.LIST_CANCELLED, listed).all() if counts.cancelled else ()
    cancelled_tickets = [
        CancelledTicket(reference=row.reference, name=row.name, secret=row.secret, admitted=row.admitted)
        for row in cancelled
    ]
    unpriced = [
        UnpricedType(ticket_type=row.ticket_type, price_minor=row.price_minor, tickets=row.tickets)
        for row in session.execute(ticket_import_sql.LIST_UNPRICED)
    ]
    import_id = _add_import(session, event_id, source, counts, list(new_type_ids.values()))
    # Writing many tickets takes long, so it comes before the locks that blocks and claims wait for.
    if not dry_run:
        _write_tickets(session, event_id, import_id)
    warnings, raised_types = _book(session, ticket_booking.lock_event(session, event_id), allow_oversell, raise_totals)
    if new_type_ids or raised_types:
        event.version += 1
        invalidate(session, "events")
    if not dry_run:
        ticket_booking.rewrite_tally(session)
    if counts.created or counts.updated:
        ticket_booking.notify_gate(session, event_id)
    invalidate(session, "tickets")
    return ImportResult(
        created=counts.created,
        updated=counts.updated,
        unchanged=counts.unchanged,
        skipped=counts.skipped,
        cancelled=counts.cancelled,
        missing=missing,
        new_types=len(new_type_ids),
        warnings=warnings,
        raised_types=raised_types,
        created_minor=new_tickets.price_minor,
        undated=new_tickets.undated,
        unpriced=unpriced,
        assumed_sold=sum(not ticket.has_status for ticket in tickets),
        cancelled_tickets=cancelled_tickets,
        cancelled_admitted=cancelled[0].all_admitted if cancelled else 0,
        new_type_names=[ticket_type.name for ticket_type in created_types],
        new_type_totals=[ticket_type.total for ticket_type in created_types],
        import_id=import_id,
        chosen_types=_list_chosen_names(event, tickets, chosen_type_ids),
        first_tickets=list_first_tickets(event, tickets, type_ids) if dry_run else (),
    )


def _list_chosen_names(event: Event, tickets: Sequence[SoldTicket], chosen_type_ids: Mapping[str, str]) -> list[str]:
    """The names in the file for which a ticket type was chosen."""
    chosen_keys = {key_of(name) for name in chosen_type_ids} - {it.name_key for it in event.ticket_types}
    names = {ticket.ticket_type for ticket in tickets} if chosen_keys else ()
    return sorted(name for name in names if key_of(name) in chosen_keys)


def _add_import(
    session: Session, event_id: str, source: ImportSource, counts: Row[*tuple[int, ...]], new_type_ids: list[str]
) -> str:
    """Add the row of the import, and return its id. Imports run one after the other, so the number is free."""
    last_number = select(func.max(TicketImport.number)).where(TicketImport.event_id == event_id)
    ticket_import = TicketImport(
        event_id=event_id,
        number=(session.scalar(last_number) or 0) + 1,
        new_type_ids=new_type_ids,
        **source._asdict(),
        **counts._asdict(),
    )
    session.add(ticket_import)
    session.flush()
    return ticket_import.id


def _match_types(event: Event, chosen_type_ids: Mapping[str, str]) -> dict[str, str]:
    """The ids of the ticket types by the keys of their names, and of the names that were chosen for them."""
    type_ids = {ticket_type.name_key: ticket_type.id for ticket_type in event.ticket_types}
    chosen = {key_of(name): id for name, id in chosen_type_ids.items()}
    if not set(chosen.values()) <= set(type_ids.values()):
        raise ValidationFailed.of("ticketTypes", "unknown_value", "The event has no ticket type with this id.")
    return {**chosen, **type_ids}


def _create_types(
    session: Session,
    event: Event,
    tickets: Sequence[SoldTicket],
    rows_by_type: Mapping[str, int],
    new_keys: Collection[str] | None,
) -> list[TicketType]:
    """The new ticket types in the order of their names: as many places as were sold, at the most common price.

    Rows of the file that are not among the tickets count as sold: they may come later.
    """
    if new_keys is not None and (unknown := [it for it in tickets if key_of(it.ticket_type) not in new_keys]):
        raise UnknownTypes(unknown)
    by_key: dict[str, list[SoldTicket]] = {}
    for ticket in tickets:
        by_key.setdefault(key_of(ticket.ticket_type), []).append(ticket)
    types = {
        name_key: TicketType(
            event_id=event.id,
            position=len(event.ticket_types) + index,
            name=group[0].ticket_type,
            name_key=name_key,
            total=sum(ticket.status == "sold" for ticket in group) + max(0, rows_by_type.get(name_key, 0) - len(group)),
            price_minor=Counter(ticket.price_minor or 0 for ticket in group).most_common(1)[0][0],
            phases=[],
        )
        for index, (name_key, group) in enumerate(by_key.items())
    }
    session.add_all(types.values())
    session.flush()
    return sorted(types.values(), key=lambda ticket_type: ticket_type.name)


def _fill_staging(session: Session, tickets: Iterable[SoldTicket], type_ids: dict[str, str], zone: str) -> None:
    session.execute(ticket_import_sql.CREATE_STAGING)
    driver = session.connection().connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy(ticket_import_sql.COPY_TO_STAGING) as copy:
        for ticket in tickets:
            sold_at, valid_from, valid_until = (
                to_instant(time, zone) if time else None
                for time in (ticket.sold_at, ticket.valid_from, ticket.valid_until)
            )
            copy.write_row(
                (
                    ticket.row,
                    ticket.reference,
                    type_ids[key_of(ticket.ticket_type)],
                    ticket.name,
                    ticket.email,
                    ticket.price_minor,
                    sold_at,
                    ticket.status,
                    ticket.order_number,
                    ticket.secret,
                    valid_from,
                    valid_until,
                )
            )


def _check_plan(session: Session, event_id: str) -> None:
    """Raises Rejected when another ticket of the event has a secret of the file, or a period ends before it starts."""
    errors = [
        RowError(row.row, "secret", "duplicate", f"The ticket {row.reference} {OF_EVENT_HAS_THIS_SECRET}", row.secret)
        for row in session.execute(ticket_import_sql.TAKEN_SECRETS, {"event": event_id})
    ] + [
        RowError(row_number, "validUntil", "ends_before_start", "Must be after validFrom.")
        for row_number in session.scalars(ticket_import_sql.REVERSED_PERIODS)
    ]
    if errors:
        raise Rejected(errors)


def _book(session: Session, event: Event, allow_oversell: bool, raise_totals: bool) -> tuple[tuple[str, ...], int]:
    """Books the sold tickets; returns warnings, and how many ticket types got more places. Raises Rejected."""
    raised_types = 0
    deltas = ticket_booking.list_deltas(session)
    errors, warnings = _check_capacity(session, event, sum(deltas.values()), allow_oversell)
    for row in session.execute(ticket_import_sql.LOCK_TYPES, {"ids": list(deltas)}).all():
        delta = deltas[row.id]
        if delta > row.public and raise_totals:
            raised_types += 1
            total = row.committed + delta
            set_total(session, row.id, total)
            book_sold(session, row.id, delta)
            warnings.append(f"{row.name} has {total} tickets now; there were {row.total}.")
        elif delta > row.public and not allow_oversell:
            row_number = (
                session.scalar(ticket_import_sql.FIRST_ROW_BEYOND_TYPE, {"id": row.id, "free": row.public}) or 0
            )
            message = (
                f"{delta} more would be sold, and only {row.public} of {row.total} are free; "
                "--raise-totals (raiseTotals) makes more, --allow-oversell (allowOversell) books the surplus."
            )
            errors.append(RowError(row_number, "ticketType", "sold_out", message, row.name))
        else:
            book_sold(session, row.id, delta)
    if errors:
        raise Rejected(errors)
    return tuple(warnings), raised_types


def _check_capacity(
    session: Session, event: Event, count: int, allow_oversell: bool
) -> tuple[list[RowError], list[str]]:
    """Errors, or with `allow_oversell` warnings, when `count` more sold tickets exceed the event's capacity."""
    use = capacity_use(event)
    surplus = use.exceeded_by(count)
    if count <= 0 or not surplus:
        return [], []
    if allow_oversell:
        counts = f"{use.sold + count} sold and {use.allocated} allocated"
        return [], [f"{counts} are {surplus} more than the capacity of {use.capacity}."]
    row_number = session.scalar(ticket_import_sql.FIRST_ROW_BEYOND_CAPACITY, {"beyond": min(surplus, count) - 1}) or 0
    message = (
        f"{count} more would be sold; {use.sold} sold and {use.allocated} allocated leave {use.available(count)} of "
        f"the event's capacity of {use.capacity}. --allow-oversell (allowOversell) books the surplus."
    )
    return [RowError(row_number, "", "sold_out", message, event.name)], []


def _write_tickets(session: Session, event_id: str, import_id: str) -> None:
    params = {"event": event_id, "import_id": import_id}
    session.execute(ticket_import_sql.KEEP_PREVIOUS_VALUES, params)
    session.execute(ticket_import_sql.RELEASE_SECRETS, params)
    session.execute(ticket_import_sql.INSERT_TICKETS, params)
    session.execute(ticket_import_sql.UPDATE_TICKETS, params)
