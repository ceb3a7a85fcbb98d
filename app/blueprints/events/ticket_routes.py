"""Imported tickets of an event: `/api/events/{eventId}/tickets`."""

from typing import Any

from werkzeug.datastructures import FileStorage

from app.accounts.permissions import EVENTS_WRITE, GUESTS_READ
from app.blueprints.events import ticket_schemas
from app.events import errors, tickets
from app.events.actions.import_ticket_file import MAX_BYTES, TicketImportJson, import_ticket_file
from app.events.queries import ListQuery
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing

blp = Blueprint("tickets", __name__, url_prefix="/api/events", description="Tickets sold elsewhere")
PATH = "/<eventId>/tickets"
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
def import_event_tickets(event_id: str, file: FileStorage, **options: Any) -> TicketImportJson:
    """Import the tickets of a file: pretix order positions, Eventbrite attendees, own columns, or any with a mapping.

    All rows are written or none. A known reference is compared and updated, so the same file again changes nothing.
    A dry run lists the errors in its response.
    """
    field_values = {"mapping": None, "format": None, **options}
    return import_ticket_file(caller=get_current_caller(), event_id=event_id, data=file.read(), **field_values)
