"""Jobs of allocations: release at a set time, emails, credit notes and ticket packs.

Each job reads the present state, so an invitation or ticket that is no longer valid is not sent.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from app.accounts.outgoing_mail import send_for_organisation
from app.allocations import emails, states
from app.allocations.actions.blocks import release_slots
from app.allocations.emails import build_guest_report_email, build_invoice_email, build_payment_email
from app.allocations.guest_report import load_guest_report
from app.allocations.invoices import issue_block_credit_note
from app.allocations.links import ResolvedToken, check_block_link
from app.allocations.models import AllocationBlock, AllocationSlot, Invoice
from app.allocations.queries import find_block, lock_block_by_id
from app.allocations.recorded_payments import find_receipt
from app.allocations.release_plan import count_step_places, find_due_step, store_released_step
from app.allocations.sql import SERVICE_ACTOR
from app.allocations.ticket_data import UNNAMED_HOLDER, load_party_tickets, load_tickets
from app.allocations.ticket_packs import draw_and_store_pack
from app.clients.mail import Message
from app.core.db import db, release_connection
from app.core.errors import LinkExpired, NotFound
from app.core.jobs import Delivery, Run, job
from app.core.languages import use_language
from app.core.transaction import transaction
from app.invoicing.documents import CREDIT_NOTE, parse_document


@job("allocations.release", Delivery.LOCAL)
def release_block(run: Run, *, block_id: str) -> None:
    """Release unclaimed slots to the public at the block's `release_at`."""
    with transaction() as session:
        run.done_in(session)
        try:
            block = lock_block_by_id(block_id)
        except NotFound:
            return
        if block["release_time_passed"]:
            release_slots(session, block, SERVICE_ACTOR)


@job("allocations.release_step", Delivery.LOCAL)
def release_step(run: Run, *, block_id: str, step_id: str) -> None:
    """Release the places of a step of a block's release plan, once."""
    with transaction() as session:
        run.done_in(session)
        try:
            block = lock_block_by_id(block_id)
        except NotFound:
            return
        step = find_due_step(block["release_plan"], step_id)
        if step is not None:
            count = count_step_places(step, block["available"] + block["invited"])
            release = release_slots(session, block, SERVICE_ACTOR, count)
            store_released_step(session, block_id, block["release_plan"], step_id, release["released"])


@job("allocations.invite", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_invite_email(run: Run, *, slot_id: str, generation: int) -> None:
    """Send a claim link if it is still valid."""
    _send_claim_link(run, slot_id, generation, is_reminder=False)


@job("allocations.remind", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_reminder_email(run: Run, *, slot_id: str, generation: int) -> None:
    """Send the same claim link again if it is still valid."""
    _send_claim_link(run, slot_id, generation, is_reminder=True)


@job("allocations.ticket", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_ticket_email(run: Run, *, slot_id: str, generation: int, slots: int) -> None:
    """Send the tickets of a claim, or the confirmation for will-call, without places that another guest has by now.

    `slot_id` is the first slot of the claim, `generation` that of all its slots, and `slots` their number.
    """
    tickets = load_party_tickets(slot_id, generation)
    release_connection()
    if tickets and tickets[0].email is not None:
        with use_language(tickets[0].language):
            message = emails.build_ticket_email(tickets, key=run.key)
        send_for_organisation(tickets[0].organiser_id, message, run=run, already_counted=False)


@job("allocations.mail_taken_back", Delivery.AT_LEAST_ONCE, to_others=True)
def send_taken_back_email(run: Run, *, slot_id: str) -> None:
    """Tell a guest that the holder took their ticket back."""
    _send_ended_ticket(run, slot_id, emails.build_taken_back_email)


@job("allocations.mail_given_back", Delivery.AT_LEAST_ONCE, to_others=True)
def send_given_back_email(run: Run, *, slot_id: str) -> None:
    """Tell a guest that they gave their ticket back."""
    _send_ended_ticket(run, slot_id, emails.build_given_back_email)


@job("allocations.mail_passed_on", Delivery.AT_LEAST_ONCE, to_others=True)
def send_passed_on_email(
    run: Run, *, slot_id: str, to: str, name: str | None, language: str | None, new_guest: str
) -> None:
    """Tell the earlier guest of a place that their ticket was passed on; `new_guest` is a masked address."""
    tickets = load_tickets(AllocationSlot.id == slot_id)
    release_connection()
    for ticket in tickets:
        earlier_ticket = replace(ticket, email=to, name=name or UNNAMED_HOLDER)
        with use_language(language):
            message = emails.build_passed_on_email(earlier_ticket, new_guest=new_guest, key=run.key)
        send_for_organisation(ticket.organiser_id, message, run=run, already_counted=False)


@job("allocations.mail_allocator_link", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_allocator_link_email(run: Run, *, block_id: str, generation: int) -> None:
    """Send the allocator link to the holder if it is still valid."""
    block = find_block(AllocationBlock.id == block_id)
    release_connection()
    if block is None or block["holder_email"] is None:
        return
    try:
        check_block_link(block, ResolvedToken("allocator", block_id, generation))
    except LinkExpired:
        return
    send_for_organisation(block["sender_id"], emails.build_allocator_link_email(block, key=run.key), run=run)


@job("allocations.mail_invoice", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_invoice_email(run: Run, *, invoice_id: str, to: str) -> None:
    """Send an invoice or a credit note."""
    row = db.session.execute(db.select(Invoice.paper, Invoice.organiser_id).where(Invoice.id == invoice_id)).first()
    release_connection()
    if row is not None:
        document = parse_document(row.paper)
        message = build_invoice_email(document, to=to, key=run.key)
        send_for_organisation(row.organiser_id, message, run=run, already_counted=document.kind != CREDIT_NOTE)


@job("allocations.mail_payment", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_payment_email(run: Run, *, block_id: str, number: int) -> None:
    """Tell the holder of a block that a payment of its invoice has arrived."""
    _send_payment_email(run, block_id, number)


@job("allocations.mail_payment_taken_back", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_payment_taken_back_email(run: Run, *, block_id: str, number: int) -> None:
    """Tell the holder of a block that a payment of its invoice was recorded wrongly."""
    _send_payment_email(run, block_id, number, is_taken_back=True)


@job("allocations.mail_report", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_guest_report_email(run: Run, *, block_id: str, to: str) -> None:
    """Send the present report of a block."""
    report = load_guest_report(block_id)
    if report is not None:
        send_for_organisation(report["sender_id"], build_guest_report_email(report, to=to, key=run.key), run=run)


@job("allocations.credit", Delivery.AT_LEAST_ONCE)
def issue_credit_note(run: Run, *, block_id: str) -> None:
    """Issue a credit note for the places that a block has lost and that are not credited yet."""
    issue_block_credit_note(block_id)


def _send_payment_email(run: Run, block_id: str, number: int, *, is_taken_back: bool = False) -> None:
    receipt = find_receipt(block_id, number, is_taken_back=is_taken_back)
    release_connection()
    if receipt is None:
        return
    message = build_payment_email(
        parse_document(receipt.paper),
        amount_minor=receipt.amount_minor,
        received_on=receipt.received_on,
        due_minor=receipt.due_minor,
        to=receipt.to,
        key=run.key,
        is_taken_back=is_taken_back,
    )
    send_for_organisation(receipt.organiser_id, message, run=run, already_counted=False)


def _send_ended_ticket(run: Run, slot_id: str, build_email: Callable[..., Message]) -> None:
    tickets = load_tickets((AllocationSlot.id == slot_id) & (AllocationSlot.status == states.REVOKED))
    release_connection()
    for ticket in tickets:
        if ticket.email is not None:
            with use_language(ticket.language):
                message = build_email(ticket, key=run.key)
            send_for_organisation(ticket.organiser_id, message, run=run, already_counted=False)


def _send_claim_link(run: Run, slot_id: str, generation: int, *, is_reminder: bool) -> None:
    tickets = load_tickets(AllocationSlot.id == slot_id)
    release_connection()
    for ticket in tickets:
        is_valid = ticket.status == states.INVITED and ticket.generation == generation and not ticket.closed
        if is_valid and ticket.email is not None:
            with use_language(ticket.language):
                message = emails.build_invite_email(ticket, key=run.key, is_reminder=is_reminder)
            send_for_organisation(ticket.organiser_id, message, run=run)


@job("allocations.print_pack", Delivery.AT_LEAST_ONCE, time_limit=timedelta(minutes=4))
def draw_pack(run: Run, *, pack_id: str) -> None:
    """Draw the PDF of a pack and store it."""
    draw_and_store_pack(run, pack_id)
