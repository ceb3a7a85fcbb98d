"""Reads of imports of tickets, and whether they can be undone."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, case, func, literal_column, select
from sqlalchemy.orm import Session
from sqlalchemy.types import Boolean

from app.accounts.caller import Caller
from app.core.db import db
from app.core.errors import AppError, NotFound
from app.events import ticket_undo_sql
from app.events.errors import LaterImport, TicketsAdmitted, TicketTypeRemoved
from app.events.models import Event, TicketImport
from app.events.queries import ListQuery, get_event

DONE, UNDONE = "done", "undone"
STATES = (DONE, UNDONE)
UNDO_ERRORS = (TicketsAdmitted, LaterImport, TicketTypeRemoved)
SORTS: dict[str, ColumnElement[Any]] = {"importedAt": TicketImport.number.expression}
"""Numbers have the order of time."""
IMPORT_COLUMNS = (
    "id",
    "event_id",
    "number",
    "file_name",
    "format",
    "digest",
    "imported_at",
    "imported_by",
    "created",
    "updated",
    "unchanged",
    "skipped",
    "cancelled",
    "undone_at",
    "undone_by",
)


def list_imports_query(caller: Caller, event_id: str, *, says_undo: bool = True) -> ListQuery:
    """The imports into an event that wrote something or found everything as it was. Raises NotFound.

    Whether each can be undone takes a read of all its tickets; without `says_undo` it is left out.
    """
    return _select_imports(get_event(caller, event_id).id, says_undo=says_undo)


def get_import(caller: Caller, event_id: str, import_id: str) -> RowMapping:
    """An import into an event, as the list has it. Raises NotFound."""
    return load_import(db.session(), get_event(caller, event_id).id, import_id)


def load_import(session: Session, event_id: str, import_id: str) -> RowMapping:
    """An import, for a caller who was checked before. Raises NotFound."""
    statement = _select_imports(event_id).where(TicketImport.id == import_id)
    row = session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def build_undo_error(session: Session, code: str, params: Mapping[str, str]) -> AppError:
    """The error with which an undo is refused, by the code in `undo_blocked_by`."""
    if code == TicketsAdmitted.code:
        return TicketsAdmitted(tickets=session.scalar(ticket_undo_sql.COUNT_ADMITTED_TICKETS, params))
    if code == LaterImport.code:
        return LaterImport(imports=list(session.scalars(ticket_undo_sql.LIST_LATER_IMPORTS, params)))
    return TicketTypeRemoved()


def _select_imports(event_id: str, *, says_undo: bool = True) -> ListQuery:
    is_undone = TicketImport.undone_at.is_not(None)
    blocked_by = case(
        (is_undone, None),
        (_condition(ticket_undo_sql.HAS_ADMITTED_TICKETS), TicketsAdmitted.code),
        (_condition(f"EXISTS ({ticket_undo_sql.LATER_IMPORTS})"), LaterImport.code),
        (_condition(ticket_undo_sql.LACKS_TYPES), TicketTypeRemoved.code),
    )
    return select(
        *(getattr(TicketImport, name) for name in IMPORT_COLUMNS),
        select(Event.timezone).where(Event.id == event_id).scalar_subquery().label("timezone"),
        func.cardinality(TicketImport.new_type_ids).label("new_types"),
        case((is_undone, UNDONE), else_=DONE).label("state"),
        *([blocked_by.label("undo_blocked_by")] if says_undo else []),
    ).where(TicketImport.event_id == event_id)


def _condition(sql: str) -> ColumnElement[bool]:
    return literal_column(sql, Boolean)
