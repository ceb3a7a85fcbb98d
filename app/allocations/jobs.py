"""Work of allocations that leaves the request: letters, and blocks whose time has come.

What goes out by mail: invitations, reminders, tickets, invoices. Each job reads afresh, so what no longer counts
is not sent.
"""

from datetime import timedelta

from app.accounts.outgoing_mail import send_for_account
from app.allocations import emails, slot_changes, states
from app.allocations.actions.releases import release_slots
from app.allocations.emails import build_invoice_email
from app.allocations.invoicing import actions as invoicing
from app.allocations.invoicing.invoice_document import CREDIT_NOTE, parse_document
from app.allocations.invoicing.models import Invoice
from app.allocations.tickets import queries, ticket_packs
from app.allocations.tickets.ticket_data import load_tickets
from app.core.db import db, release_connection
from app.core.errors import NotFound
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction


@job("allocations.release", Delivery.LOCAL)
def release_block(run: Run, *, block_id: str) -> None:
    """Gives what nobody has claimed back to the public, at the block's `release_at`."""
    with transaction() as session:
        run.done_in(session)
        try:
            block = slot_changes.lock_block_by_id(session, block_id=block_id)
        except NotFound:
            return
        if block["over"]:
            release_slots(session, block, slot_changes.SERVICE_ACTOR)


@job("allocations.invite", Delivery.AT_LEAST_ONCE, to_others=True)
def send_invite_email(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends a claim link, if it would still open the place."""
    _send_claim_link(run, slot_id, generation, is_reminder=False)


@job("allocations.remind", Delivery.AT_LEAST_ONCE, to_others=True)
def send_reminder_email(run: Run, *, slot_id: str, generation: int) -> None:
    """Sends the same claim link again."""
    _send_claim_link(run, slot_id, generation, is_reminder=True)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE, to_others=True)
def send_ticket_email(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Sends the tickets of one claim, or the confirmation for will call: those that are still the same guest's.

    `slot_id` is the first place of the claim, and `generation` that of all its places. The other places are sent when
    the first has ended or has been renamed. `slots` is how many places were claimed.
    """
    tickets_of_party = queries.load_party_tickets(slot_id, generation)
    release_connection()
    if tickets_of_party and tickets_of_party[0].email is not None:
        send_for_account(
            tickets_of_party[0].organiser_id,
            emails.build_ticket_email(tickets_of_party, key=run.key),
            run=run,
            already_counted=False,
        )


@job("allocations.mail_invoice", Delivery.AT_LEAST_ONCE, to_others=True)
def send_invoice_email(run: Run, *, invoice_id: str, to: str) -> None:
    """Sends an invoice or a credit note."""
    row = db.session.execute(db.select(Invoice.paper, Invoice.organiser_id).where(Invoice.id == invoice_id)).first()
    release_connection()
    if row is not None:
        document = parse_document(row.paper)
        message = build_invoice_email(document, to=to, key=run.key)
        send_for_account(row.organiser_id, message, run=run, already_counted=document.kind != CREDIT_NOTE)


@job("allocations.credit", Delivery.AT_LEAST_ONCE)
def issue_credit_note(run: Run, *, block_id: str) -> None:
    """Issues the credit note that a block's lost places call for; none when they are credited already."""
    invoicing.issue_block_credit_note(block_id)


def _send_claim_link(run: Run, slot_id: str, generation: int, *, is_reminder: bool) -> None:
    slot_tickets = load_tickets(db.session(), [slot_id])
    release_connection()
    invited_tickets = [
        ticket for ticket in slot_tickets if ticket.status == states.INVITED and ticket.generation == generation
    ]
    if invited_tickets and invited_tickets[0].email is not None and not invited_tickets[0].closed:
        message = emails.build_invite_email(invited_tickets[0], key=run.key, is_reminder=is_reminder)
        send_for_account(invited_tickets[0].organiser_id, message, run=run)


@job("allocations.print_pack", Delivery.AT_LEAST_ONCE, time_limit=timedelta(minutes=4))
def draw_pack(run: Run, *, pack_id: str) -> None:
    """Draws the tickets of a pack."""
    ticket_packs.draw_and_store_pack(run, pack_id)
