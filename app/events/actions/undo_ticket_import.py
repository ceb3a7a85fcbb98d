"""Undoing an import of tickets: everything is as it was before the import, or nothing changes."""

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.transaction import transaction
from app.events import queries, ticket_booking, ticket_import_sql, ticket_undo_sql
from app.events.availability import book_sold
from app.events.models import Event, TicketImport, TicketType
from app.events.ticket_imports import UNDONE, build_undo_error, load_import
from app.events.ticket_types import remove_if_unused
from app.events.visibility import DRAFT


def undo_ticket_import(caller: Caller, event_id: str, import_id: str) -> RowMapping:
    """Removes the tickets that an import created, and gives those that it changed their earlier values.

    Ticket types that it created go if nothing refers to them. Sold tickets that come back are booked also beyond the
    total, as `oversold`. A second undo changes nothing. Returns the import. Raises NotFound, TicketsAdmitted,
    LaterImport, TicketTypeRemoved.
    """
    event = queries.get_event(caller, event_id)
    params = {"event": event.id, "import_id": import_id, "undone_by": caller.name}
    with transaction() as session:
        ticket_booking.lock_imports(session, event.id)
        queries.hold(session, event.id)
        session.execute(ticket_undo_sql.LOCK_TICKETS, params)
        ticket_import = load_import(session, event.id, import_id)
        if ticket_import["state"] == UNDONE:
            return ticket_import
        if ticket_import["undo_blocked_by"]:
            raise build_undo_error(session, ticket_import["undo_blocked_by"], params)
        for statement in (
            ticket_import_sql.CREATE_PLAN,
            ticket_undo_sql.PLAN_UNDO,
            ticket_undo_sql.REMOVE_TICKETS,
            ticket_import_sql.RELEASE_SECRETS,
            ticket_import_sql.UPDATE_TICKETS,
        ):
            session.execute(statement, params)
        event = ticket_booking.lock_event(session, event.id)
        _book(session)
        _remove_types(session, event, import_id)
        session.execute(ticket_undo_sql.MARK_UNDONE, params)
        ticket_booking.notify_gate(session, event.id)
        invalidate(session, "tickets")
        counts = {"created": ticket_import["created"], "updated": ticket_import["updated"]}
        data = {"import": import_id, **counts}
        record(session, Action.TICKET_IMPORT_UNDONE, event_id=event.id, subject=event.id, data=data)
        return load_import(session, event.id, import_id)


def _book(session: Session) -> None:
    deltas = ticket_booking.list_deltas(session)
    for row in session.execute(ticket_import_sql.LOCK_TYPES, {"ids": list(deltas)}).all():
        book_sold(session, row.id, deltas[row.id])
    ticket_booking.rewrite_tally(session)


def _remove_types(session: Session, event: Event, import_id: str) -> None:
    """Removes the ticket types that the import created and nothing refers to; a public event without a capacity keeps
    one."""
    new_ids = session.scalar(
        select(TicketImport.new_type_ids).where(TicketImport.id == import_id, TicketImport.event_id == event.id)
    )
    kept: list[TicketType] = list(event.ticket_types)
    promoted_ids = {id for promo_code in event.promo_codes for id in promo_code.get("ticketTypeIds") or ()}
    for ticket_type in event.ticket_types:
        if ticket_type.id not in (new_ids or ()) or ticket_type.phases or ticket_type.id in promoted_ids:
            continue
        is_last = len(kept) == 1 and event.capacity is None and event.visibility != DRAFT
        if not is_last and remove_if_unused(session, ticket_type):
            kept.remove(ticket_type)
    if len(kept) != len(event.ticket_types):
        event.version += 1
        session.flush()
        session.expire(event, ["ticket_types"])
        invalidate(session, "events")
