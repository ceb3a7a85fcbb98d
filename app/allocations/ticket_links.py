"""Links of tickets: the tickets that a link shows, and why a ticket has ended."""

from sqlalchemy import select

from app.allocations.links import resolve_token
from app.allocations.models import SlotEvent
from app.allocations.ticket_data import Ticket, load_party_tickets
from app.core.db import db, release_connection
from app.core.errors import LinkExpired
from app.core.languages import mark_for_translation

PASS_ON, GIVE_BACK = "pass_on", "give_back"
TAKEN_BACK_MESSAGE = mark_for_translation(
    "This ticket was taken back. If you do not know why, ask the person who gave it to you."
)
ENDED_MESSAGES = {
    PASS_ON: mark_for_translation("This ticket was passed on. It now belongs to another guest, with another code."),
    GIVE_BACK: mark_for_translation("This ticket was given back, so it no longer works."),
    "rename": mark_for_translation("The person who gave you this ticket has given it to another guest."),
    "revoke": TAKEN_BACK_MESSAGE,
    "take_back": TAKEN_BACK_MESSAGE,
}
"""By the verb of the last change of the slot."""


def load_linked_tickets(token: str, network: str) -> list[Ticket]:
    """Return the ticket of a link, and those of its party if the slot is the first of one.

    Tickets that another guest has by now are left out. Raises NotFound, Throttled, LinkExpired.
    """
    resolved_token = resolve_token(token, network, "ticket")
    tickets = load_party_tickets(resolved_token.id, resolved_token.generation)
    if not tickets:
        raise build_ticket_ended(find_last_change(resolved_token.id))
    release_connection()
    return tickets


def load_linked_ticket(token: str, network: str) -> Ticket:
    """Return the ticket of a link without its party. Raises NotFound, Throttled, LinkExpired."""
    resolved_token = resolve_token(token, network, "ticket")
    for ticket in load_party_tickets(resolved_token.id, resolved_token.generation):
        if ticket.slot_id == resolved_token.id:
            release_connection()
            return ticket
    raise build_ticket_ended(find_last_change(resolved_token.id))


def find_last_change(slot_id: str) -> str | None:
    """Return the verb of the last change of a slot."""
    statement = select(SlotEvent.verb).where(SlotEvent.slot_id == slot_id).order_by(SlotEvent.id.desc()).limit(1)
    verb: str | None = db.session.scalar(statement)
    return verb


def build_ticket_ended(last_change: str | None) -> LinkExpired:
    """Return the error of a ticket that ended with this change."""
    return LinkExpired(ENDED_MESSAGES.get(last_change or "", TAKEN_BACK_MESSAGE))
