"""Errors of events and tickets, and of files that are imported into an event."""

from app.core.errors import Conflict, Gone, TooLarge, Unprocessable, UnsupportedMedia
from app.core.languages import mark_for_translation


class CapacityExceeded(Conflict):
    number, code = 40924, "CAPACITY_EXCEEDED"
    message = "The event has fewer free places than that; data has its capacity and how many are sold and allocated."


class CapacityCommitted(Conflict):
    number, code = 40925, "CAPACITY_COMMITTED"
    message = "More places are sold or allocated than this capacity; data.committed has their number."


class VisibilityNotReachable(Conflict):
    number, code = 40930, "VISIBILITY_NOT_REACHABLE"
    message = "An event cannot go from its present visibility to that one."


class NotPublishable(Conflict):
    number, code = 40931, "NOT_PUBLISHABLE"
    message = "The event cannot be published yet; data.missing names what it needs."


class TicketsCommitted(Conflict):
    number, code = 40932, "TICKETS_COMMITTED"
    message = "Tickets of this type are sold or allocated; it cannot offer fewer than those, nor be removed."


class StallTypeInUse(Conflict):
    number, code = 40921, "STALL_TYPE_IN_USE"
    message = (
        "Open applications, stalls or invitations have these stall types, so they can be neither removed nor renamed; "
        "data.stallTypes has the number of each."
    )


class EventsNotOver(Conflict):
    number, code = 40967, "EVENTS_NOT_OVER"
    message = "Some of your events are not over; cancel them, or wait until they are over."


class TicketsAdmitted(Conflict):
    number, code = 40998, "TICKETS_ADMITTED"
    message = "Guests have entered with tickets of this import, so it cannot be undone; data.tickets has their number."


class LaterImport(Conflict):
    number, code = 40999, "LATER_IMPORT"
    message = "A later import changed the same tickets or took their codes; undo it first. data.imports has the ids."


class TicketTypeRemoved(Gone):
    number, code = 41061, "TICKET_TYPE_REMOVED"
    message = "The ticket type that tickets had before this import was removed, so the import cannot be undone."


class SlugTaken(Conflict):
    number, code = 40929, "SLUG_TAKEN"
    message = "Another event has this slug; choose another one."


class ImportTooLarge(TooLarge):
    number, code = 41322, "IMPORT_TOO_LARGE"
    message = mark_for_translation("A file may have 100,000 rows and 20 MiB; send it in parts.")


class NotASpreadsheet(UnsupportedMedia):
    number, code = 41522, "NOT_A_SPREADSHEET"
    message = mark_for_translation("The file is neither CSV nor an XLSX workbook. Save it as one of them.")


class ImportRejected(Unprocessable):
    number, code = 42222, "IMPORT_REJECTED"
    message = "Nothing was written; data.errors lists the errors by row and column."
