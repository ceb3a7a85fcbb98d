"""What goes out by mail: invitations, reminders, tickets, invoices. Each job reads afresh, so what no longer counts
is not sent."""

from datetime import timedelta

from app.accounts.outgoing_mail import send_for
from app.allocations import states
from app.allocations.invoicing import actions as invoicing
from app.allocations.invoicing.letters import invoice_letter
from app.allocations.invoicing.models import Invoice
from app.allocations.invoicing.paper import CREDIT_NOTE, read
from app.allocations.tickets import letters, packs, queries
from app.allocations.tickets.facts import Ticket, tickets
from app.core.db import db, release
from app.core.jobs import Delivery, Run, job


@job("allocations.invite", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_invite(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends a claim link, if the place still is for whom it was."""
    _mail_link(run, slot_id, generation, reminded=False)


@job("allocations.remind", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_reminder(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends the same claim link again."""
    _mail_link(run, slot_id, generation, reminded=True)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_ticket(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Sends the ticket of a place that was claimed, or those of its party; or the confirmation for will call."""
    first = _still(slot_id, generation, queries.ALIVE)
    if first is None:
        return
    tickets = queries.party(slot_id) if slots > 1 else [first]
    release()
    if tickets:
        send_for(first.organiser_id, letters.confirmation(tickets, key=run.key), run=run, counted=False)


@job("allocations.mail_invoice", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_invoice(run: Run, *, invoice_id: str, to: str) -> None:
    """Sends an invoice or a credit note."""
    row = db.session.execute(db.select(Invoice.paper, Invoice.organiser_id).where(Invoice.id == invoice_id)).first()
    release()
    if row is not None:
        paper = read(row.paper)
        message = invoice_letter(paper, to=to, key=run.key)
        send_for(row.organiser_id, message, run=run, counted=paper.kind != CREDIT_NOTE)


@job("allocations.credit", Delivery.AT_LEAST_ONCE)
def credit(run: Run, *, block_id: str) -> None:
    """Issues the credit note that a block's lost places call for; none when they are credited already."""
    invoicing.credit(block_id)


def _mail_link(run: Run, slot_id: str, generation: int, *, reminded: bool) -> None:
    ticket = _still(slot_id, generation, (states.INVITED,))
    if ticket is not None:
        send_for(ticket.organiser_id, letters.invitation(ticket, key=run.key, reminded=reminded), run=run)


def _still(slot_id: str, generation: int, wanted: tuple[str, ...]) -> Ticket | None:
    """The ticket, if the slot has not changed hands, and there is an address to write to."""
    found = tickets(db.session(), [slot_id])
    release()
    if not found or found[0].email is None:
        return None
    (ticket,) = found
    return ticket if ticket.generation == generation and ticket.status in wanted else None


@job("allocations.print_pack", Delivery.AT_LEAST_ONCE, time_limit=timedelta(minutes=4))
def print_pack(run: Run, *, pack_id: str) -> None:
    """Draws the tickets of a pack."""
    packs.print_pack(run, pack_id)
