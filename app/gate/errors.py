"""Errors of scans at the gate."""

from app.core.errors import Conflict, NotFound
from app.core.languages import mark_for_translation


class TicketNotFound(NotFound):
    number, code = 40440, "TICKET_NOT_FOUND"
    message = "No ticket of this event has this code; check the code, or search by name."


class TicketCancelled(Conflict):
    number, code = 40978, "TICKET_CANCELLED"
    message = "This ticket was cancelled or refunded, so nobody can be admitted on it; data.status says which."


class WrongEvent(Conflict):
    number, code = 40979, "WRONG_EVENT"
    message = "This ticket is for another event; data.eventName says which."


class WrongDay(Conflict):
    number, code = 40989, "WRONG_DAY"
    message = "This ticket is not valid at this time; data.validFrom and data.validUntil say when it is."


class NonceReused(Conflict):
    number, code = 40985, "NONCE_REUSED"
    message = "This nonce belongs to the scan of another ticket; send a new one with each scan."


class NoReentry(Conflict):
    number, code = 40986, "NO_REENTRY"
    message = "Exits are scanned only at events whose `reentry` is `counted`."


class NotInside(Conflict):
    number, code = 40987, "NOT_INSIDE"
    message = "Nobody is inside on this ticket, so nobody can leave on it."


class UndoTooLate(Conflict):
    number, code = 40988, "UNDO_TOO_LATE"
    message = mark_for_translation("You can undo your own scan for 10 minutes; after that, an owner or a manager can.")
