"""Imported tickets of an event: `/api/events/{eventId}/tickets`."""

from collections.abc import Mapping
from typing import Any

from werkzeug.datastructures import FileStorage

from app.accounts.permissions import EVENTS_WRITE, GUESTS_READ
from app.blueprints.events import ticket_schemas
from app.events import errors, ticket_imports, tickets
from app.events.actions.import_ticket_file import MAX_BYTES, FileOptions, import_ticket_file
from app.events.actions.undo_ticket_import import undo_ticket_import
from app.events.queries import ListQuery
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing

blp = Blueprint("tickets", __name__, url_prefix="/api/events", description="Tickets sold elsewhere")
PATH = "/<eventId>/tickets"
IMPORT_PATH = f"{PATH}/imports/<importId>"
# A form is a little larger than the file in it.
MAX_UPLOAD_BYTES = MAX_BYTES + 64 * 1024


@blp.get(
    PATH,
    access=may(GUESTS_READ),
    query=ticket_schemas.TicketFilters,
    returns=Listing("tickets", ticket_schemas.TicketRow, tickets.SORTS, "reference"),
)
def list_tickets(event_id: str, **filters: Any) -> ListQuery:
    """List the imported tickets of an event.

    `secret` is null for callers without `gate.admit` and `guests.write`, `priceMinor` for callers without `money.read`.
    """
    return tickets.list_tickets_query(get_current_caller(), event_id, **filters)


@blp.post(
    f"{PATH}/import",
    access=may(EVENTS_WRITE).with_verified_email(),
    files=ticket_schemas.TicketImportBody,
    returns=ticket_schemas.TicketImportData,
    idempotent=True,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=[errors.ImportRejected, errors.ImportTooLarge, errors.NotASpreadsheet],
)
def import_event_tickets(event_id: str, file: FileStorage, mode: str, **options: Any) -> dict[str, Any]:
    """Import the tickets of a file: pretix order positions, Eventbrite attendees, own columns, or any with a mapping.

    All rows are written or none; with `mode=partial` those without errors, and 422 if there is none. A known reference
    is compared and updated, so the same file again changes nothing. A dry run lists the errors in its response, and is
    not listed among the imports.
    """
    return import_ticket_file(
        caller=get_current_caller(),
        event_id=event_id,
        data=file.read(),
        file_name=file.filename,
        options=FileOptions(**options, partial=mode == "partial"),
    )


@blp.get(
    f"{PATH}/imports",
    access=may(GUESTS_READ),
    returns=Listing("imports", ticket_schemas.TicketImportRow, ticket_imports.SORTS, "-importedAt"),
)
def list_ticket_imports(event_id: str) -> ListQuery:
    """List the imports of tickets into an event."""
    return ticket_imports.list_imports_query(get_current_caller(), event_id)


@blp.get(IMPORT_PATH, access=may(GUESTS_READ), returns=ticket_schemas.TicketImportRow)
def read_ticket_import(event_id: str, import_id: str) -> Mapping[Any, Any]:
    """Read an import of tickets."""
    return ticket_imports.get_import(get_current_caller(), event_id, import_id)


@blp.post(
    f"{IMPORT_PATH}/undo",
    access=may(EVENTS_WRITE).with_verified_email(),
    returns=ticket_schemas.TicketImportRow,
    idempotent=True,
    errors=ticket_imports.UNDO_ERRORS,
)
def undo_import(event_id: str, import_id: str) -> Mapping[Any, Any]:
    """Undo an import of tickets: tickets that it created go, and those that it changed get their earlier values back.

    Ticket types that it created go if nothing refers to them. Sold tickets that come back are booked even beyond the
    total of their type, as `oversold`. Nobody is mailed. A second undo changes nothing.
    """
    return undo_ticket_import(get_current_caller(), event_id, import_id)
