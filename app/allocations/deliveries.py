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
from app.allocations.tickets.facts import tickets
from app.core.db import db, release
from app.core.jobs import Delivery, Run, job


@job("allocations.invite", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_invite(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends a claim link, if it would still open the place."""
    _mail_link(run, slot_id, generation, reminded=False)


@job("allocations.remind", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_reminder(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends the same claim link again."""
    _mail_link(run, slot_id, generation, reminded=True)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_ticket(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Sends the tickets of one claim, or the confirmation for will call: those that are still the same guest's.

    `slot_id` is the first place of the claim, and `generation` that of all its places. The other places are sent when
    the first has ended or has been renamed. `slots` is how many places were claimed.
    """
    found = queries.party(slot_id, generation)
    release()
    if found and found[0].email is not None:
        send_for(found[0].organiser_id, letters.confirmation(found, key=run.key), run=run, counted=False)


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
    found = tickets(db.session(), [slot_id])
    release()
    invited = [each for each in found if each.status == states.INVITED and each.generation == generation]
    if invited and invited[0].email is not None and not invited[0].closed:
        message = letters.invitation(invited[0], key=run.key, reminded=reminded)
        send_for(invited[0].organiser_id, message, run=run)


@job("allocations.print_pack", Delivery.AT_LEAST_ONCE, time_limit=timedelta(minutes=4))
def print_pack(run: Run, *, pack_id: str) -> None:
    """Draws the tickets of a pack."""
    packs.print_pack(run, pack_id)
