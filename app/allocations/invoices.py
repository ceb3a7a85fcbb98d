"""Invoices and credit notes of blocks: previewing, reading, sending and issuing them, the last under the block's lock."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from sqlalchemy import and_, select
from sqlalchemy.orm import undefer

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.allocations.errors import BlockInvoiced, EventNotCancelled, InvoiceAddressMissing, InvoiceNotIssued
from app.allocations.invoice_context import BUYER_REFERENCE, load_invoice_context, lock_block_for_invoice
from app.allocations.invoice_issue import (
    DUE,
    build_invoice_document,
    digest_document,
    get_or_issue_invoice,
    issue_missing_credit_note,
)
from app.allocations.invoice_payments import find_invoice_of_block
from app.allocations.models import AllocationBlock, Invoice
from app.allocations.recorded_payments import RecordedPayment, list_payments, sum_charges, sum_counted
from app.allocations.states import CREDITED, ISSUED
from app.audit.actions import Action
from app.audit.log import record, record_export
from app.core import throttle
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.errors import NotFound, Throttled
from app.core.languages import mark_for_translation
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events import queries as events
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.events.visibility import CANCELLED
from app.invoicing.documents import INVOICE, InvoiceDocument, mark_as_preview, parse_document
from app.invoicing.invoice_pdf import draw_invoice_pdf

PREVIEW_INVOICED_MESSAGE = "The invoice of this block is issued; read it instead of a preview."
INVOICE_EMAIL_LIMIT = Rule("invoice-mail", 20, timedelta(days=1))


class EnqueuedInvoice(NamedTuple):
    """The number of an invoice, and the address that it is sent to."""

    number: str
    to: str


class InvoicePreview(NamedTuple):
    """What an invoice would say, and the digest with which it is issued only if it still says that."""

    document: InvoiceDocument
    digest: str


class IssuedInvoice(TypedDict):
    """A block's invoice, its payments, and the credit notes for it, whose sum is `credited_minor`.

    `buyer` has the lines of the buyer as they are printed: name, address, contact details, VAT registration number.
    `due_minor` is what is still to be paid; below zero it is what the organiser owes back. `due_day` is the day until which
    it is to be paid, as it is printed.
    """

    number: str
    status: str
    issued_at: datetime
    total_minor: int
    credited_minor: int
    due_minor: int
    due_day: str | None
    buyer: list[str]
    buyer_reference: str | None
    credit_notes: list[Invoice]
    payments: Sequence[RecordedPayment]


def preview_invoice(caller: Caller, event_id: str, block_id: str) -> InvoicePreview:
    """Return what the invoice of a block would say now, as a preview without a number. Nothing is stored.

    Raises NotFound, NothingToInvoice, BlockInvoiced.
    """
    if _find_invoice_document(caller, event_id, block_id) is not None:
        raise BlockInvoiced(PREVIEW_INVOICED_MESSAGE)
    context = load_invoice_context(db.session(), block_id)
    document = build_invoice_document(context)
    return InvoicePreview(mark_as_preview(document, context.organisation.bank), digest_document(document, context))


def get_or_issue_invoice_pdf(
    caller: Caller, event_id: str, block_id: str, *, number: str | None = None
) -> tuple[str, bytes]:
    """Return number and PDF of a block's invoice, which is issued if it was not before, or of a credit note.

    Raises NotFound, NothingToInvoice; InvoiceNotIssued for a caller who may read money but not write it.
    """
    document = _find_invoice_document(caller, event_id, block_id, number=number)
    document = document or issue_invoice(caller, event_id, block_id)
    release_connection()
    record_export(Action.INVOICE_EXPORTED, event_id=event_id, subject=block_id, data={"number": document.number})
    return document.number, draw_invoice_pdf(document)


def issue_invoice(
    caller: Caller, event_id: str, block_id: str, *, expected_digest: str | None = None
) -> InvoiceDocument:
    """Issue the invoice of a block, or return the one that it has.

    Raises InvoiceNotIssued, NothingToInvoice, and StaleVersion if it would differ from the preview of that digest.
    """
    with transaction() as session:
        if lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller) is None:
            raise InvoiceNotIssued()
        return parse_document(get_or_issue_invoice(session, block_id, expected_digest=expected_digest).paper)


def enqueue_invoice_email(
    caller: Caller, event_id: str, block_id: str, *, to: str | None = None, expected_digest: str | None = None
) -> EnqueuedInvoice:
    """Enqueue the email of a block's invoice to its holder, or to `to`; issue the invoice if it is not issued yet.

    Raises NotFound, NothingToInvoice, InvoiceAddressMissing, SenderNotVerified, MailLimitReached, Throttled after twenty a
    day, and StaleVersion if the invoice would differ from the preview of that digest.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        issued_invoice = get_or_issue_invoice(session, block_id, expected_digest=expected_digest)
        address = to or block.holder_email
        if address is None:
            raise InvoiceAddressMissing()
        limit_status = throttle.hit(session, INVOICE_EMAIL_LIMIT, block_id)
        if not limit_status.exceeded:
            count_mails(session, load_sender(session, issued_invoice.organiser_id), [address])
            data = {"block": block_id, "number": issued_invoice.number}
            record(session, Action.INVOICE_MAILED, event_id=event_id, subject=issued_invoice.id, data=data)
            enqueue("allocations.mail_invoice", invoice_id=issued_invoice.id, to=address)
    if limit_status.exceeded:
        raise Throttled(
            mark_for_translation("This invoice was sent twenty times today."), retry_after=limit_status.seconds
        )
    return EnqueuedInvoice(issued_invoice.number, address)


def issue_block_credit_note(block_id: str) -> Invoice | None:
    """Issue a credit note for the places that a block has lost, and enqueue its email to the holder."""
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id)
        return None if block is None else _issue_and_mail_credit_note(session, block)


def credit_invoice(caller: Caller, event_id: str, block_id: str) -> None:
    """Credit all that the invoice of a block still charges, because the event is cancelled, and mail it to the holder.

    The places stay as they are. Where nothing is charged it changes nothing. Raises NotFound, InvoiceNotIssued,
    EventNotCancelled.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        if sum_charges(find_invoice_of_block(session, event_id, block_id)) <= 0:
            return
        if session.scalar(select(Event.visibility).where(Event.id == event_id)) != CANCELLED:
            raise EventNotCancelled()
        _issue_and_mail_credit_note(session, block, credits_all=True)


def _issue_and_mail_credit_note(
    session: ReadOrWriteSession, block: AllocationBlock, *, credits_all: bool = False
) -> Invoice | None:
    credit_note = issue_missing_credit_note(session, block.id, credits_all=credits_all)
    if credit_note is not None and block.holder_email:
        enqueue("allocations.mail_invoice", invoice_id=credit_note.id, to=block.holder_email)
    return credit_note


def _find_invoice_document(
    caller: Caller, event_id: str, block_id: str, *, number: str | None = None
) -> InvoiceDocument | None:
    """Return a block's invoice, or its credit note with that number; None if no invoice is issued. Raises NotFound."""
    invoice_condition = Invoice.kind == INVOICE if number is None else Invoice.number == number
    row = db.session.execute(
        select(AllocationBlock.id, Invoice.paper)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, and_(belongs_to(Invoice.block_id, AllocationBlock), invoice_condition))
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller))
    ).first()
    if row is None or (number is not None and row[1] is None):
        raise NotFound()
    return None if row[1] is None else parse_document(row[1])


def get_invoice(caller: Caller, event_id: str, block_id: str) -> IssuedInvoice:
    """Return a block's invoice with its credit notes and its payments. Raises NotFound, InvoiceNotIssued."""
    rows = db.session.execute(
        select(Invoice)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, belongs_to(Invoice.block_id, AllocationBlock))
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller))
        .options(undefer(Invoice.paper))
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).scalars()
    invoices = rows.all()
    if not invoices:
        raise NotFound()
    invoice, *credit_notes = invoices
    if invoice is None:
        raise InvoiceNotIssued()
    document = parse_document(invoice.paper)
    payments = list_payments(invoice)
    credited_minor = -sum(credit_note.total_minor for credit_note in credit_notes)
    return {
        "number": invoice.number,
        "status": CREDITED if credit_notes else ISSUED,
        "issued_at": invoice.issued_at,
        "total_minor": invoice.total_minor,
        "credited_minor": credited_minor,
        "due_minor": invoice.total_minor - credited_minor - sum_counted(payments),
        "due_day": dict(document.facts).get(DUE),
        "buyer": document.buyer,
        "buyer_reference": dict(document.facts).get(BUYER_REFERENCE),
        "credit_notes": credit_notes,
        "payments": payments,
    }
