"""What goes out by mail: invitations, reminders, tickets, invoices. Each job reads afresh, so what no longer counts
is not sent."""

from datetime import timedelta

from app.allocations import states
from app.allocations.invoicing import actions as invoicing
from app.allocations.invoicing.letters import invoice_letter
from app.allocations.invoicing.models import Invoice
from app.allocations.invoicing.paper import read
from app.allocations.tickets import letters, packs, queries
from app.allocations.tickets.facts import tickets
from app.clients.mail import send
from app.core.db import db, release
from app.core.jobs import Delivery, Run, job


@job("allocations.invite", Delivery.AT_LEAST_ONCE)
def mail_invite(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends a claim link, if it would still open the place."""
    _mail_link(run, slot_id, generation, reminded=False)


@job("allocations.remind", Delivery.AT_LEAST_ONCE)
def mail_reminder(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends the same claim link again."""
    _mail_link(run, slot_id, generation, reminded=True)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE)
def mail_ticket(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Sends the tickets of one claim, or the confirmation for will call: those that are still the same guest's.

    `slot_id` is the first place of the claim, and `generation` that of all its places. The other places are sent when
    the first has ended or has been renamed. `slots` is how many places were claimed.
    """
    found = queries.party(slot_id, generation)
    release()
    if found and found[0].email is not None:
        send(letters.confirmation(found, key=run.key), fence=run.fence)


@job("allocations.mail_invoice", Delivery.AT_LEAST_ONCE)
def mail_invoice(run: Run, *, invoice_id: str, to: str) -> None:
    """Sends an invoice or a credit note."""
    paper = db.session.scalar(db.select(Invoice.paper).where(Invoice.id == invoice_id))
    release()
    if paper is not None:
        send(invoice_letter(read(paper), to=to, key=run.key), fence=run.fence)


@job("allocations.credit", Delivery.AT_LEAST_ONCE)
def credit(run: Run, *, block_id: str) -> None:
    """Issues the credit note that a block's lost places call for; none when they are credited already."""
    invoicing.credit(block_id)


def _mail_link(run: Run, slot_id: str, generation: int, *, reminded: bool) -> None:
    found = tickets(db.session(), [slot_id])
    release()
    invited = [each for each in found if each.status == states.INVITED and each.generation == generation]
    if invited and invited[0].email is not None and not invited[0].closed:
        send(letters.invitation(invited[0], key=run.key, reminded=reminded), fence=run.fence)


@job("allocations.print_pack", Delivery.AT_LEAST_ONCE, time_limit=timedelta(minutes=4))
def print_pack(run: Run, *, pack_id: str) -> None:
    """Draws the tickets of a pack."""
    packs.print_pack(run, pack_id)
