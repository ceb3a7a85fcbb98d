"""Invoices and credit notes of blocks: reading, sending and issuing them, the last under the block's lock."""

from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.allocations import pricing
from app.allocations.errors import InvoiceAddressMissing, InvoiceNotIssued, NothingToInvoice
from app.allocations.invoice_context import InvoiceContext, load_invoice_context, lock_block_for_invoice
from app.allocations.models import AllocationBlock, Invoice, InvoicePayment
from app.allocations.states import CREDITED, ISSUED
from app.audit.actions import Action
from app.audit.log import record, record_export
from app.core import throttle
from app.core.db import db, release_connection
from app.core.errors import NotFound, Throttled
from app.core.formatting import HOME, format_count, format_day
from app.core.ids import new_id
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events import queries as events
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.invoicing.documents import (
    CREDIT_NOTE,
    CURRENCY_NOTE,
    INVOICE,
    LAYOUT_VERSION,
    VAT_NOTE,
    DocumentLine,
    InvoiceDocument,
    build_payment_rows,
    calculate_correction,
    parse_document,
)
from app.invoicing.invoice_pdf import draw_invoice_pdf
from app.invoicing.numbers import take_next_number

INVOICE_EMAIL_LIMIT = Rule("invoice-mail", 20, timedelta(days=1))


class EnqueuedInvoice(NamedTuple):
    """The number of an invoice, and the address that it is sent to."""

    number: str
    to: str


class IssuedInvoice(TypedDict):
    """A block's invoice, its payment, and the credit notes for it, whose sum is `credited_minor`.

    `due_minor` is what is still to be paid; below zero it is what the organiser owes back.
    """

    number: str
    status: str
    issued_at: datetime
    total_minor: int
    credited_minor: int
    due_minor: int
    credit_notes: list[Invoice]
    payment: InvoicePayment | None


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


def issue_invoice(caller: Caller, event_id: str, block_id: str) -> InvoiceDocument:
    """Issue the invoice of a block, or return the one that it has. Raises InvoiceNotIssued, NothingToInvoice."""
    with transaction() as session:
        if lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller) is None:
            raise InvoiceNotIssued()
        return parse_document(_get_or_issue_invoice(session, block_id).paper)


def enqueue_invoice_email(caller: Caller, event_id: str, block_id: str, *, to: str | None = None) -> EnqueuedInvoice:
    """Enqueue the email of a block's invoice to its holder, or to `to`; issue the invoice if it is not issued yet.

    Raises NotFound, NothingToInvoice, InvoiceAddressMissing, SenderNotVerified, MailLimitReached, and Throttled after
    twenty a day.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        issued_invoice = _get_or_issue_invoice(session, block_id)
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
        if block is None:
            return None
        credit_note = _issue_missing_credit_note(session, block_id)
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
    """Return a block's invoice with its credit notes and its payment. Raises NotFound, InvoiceNotIssued."""
    rows = db.session.execute(
        select(Invoice)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, belongs_to(Invoice.block_id, AllocationBlock))
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller))
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).scalars()
    invoices = rows.all()
    if not invoices:
        raise NotFound()
    invoice, *credit_notes = invoices
    if invoice is None:
        raise InvoiceNotIssued()
    payment = db.session.get(InvoicePayment, invoice.id)
    credited_minor = -sum(credit_note.total_minor for credit_note in credit_notes)
    return {
        "number": invoice.number,
        "status": CREDITED if credit_notes else ISSUED,
        "issued_at": invoice.issued_at,
        "total_minor": invoice.total_minor,
        "credited_minor": credited_minor,
        "due_minor": invoice.total_minor - credited_minor - (payment.amount_minor if payment else 0),
        "credit_notes": credit_notes,
        "payment": payment,
    }


def _get_or_issue_invoice(session: Session, block_id: str) -> Invoice:
    """Return the invoice of a locked block; issue it if there is none. Raises NothingToInvoice."""
    existing_invoice = session.scalar(select(Invoice).where(Invoice.block_id == block_id, Invoice.kind == INVOICE))
    if existing_invoice is not None:
        return existing_invoice
    context = load_invoice_context(session, block_id)
    cost = pricing.calculate_block_cost(context.block, context.ticket_type)
    if cost.total_minor == 0:
        raise NothingToInvoice()
    vat_number = context.organisation.vat_number or ""
    lines = [
        DocumentLine(
            what=cost_line.description,
            quantity=cost_line.quantity,
            unit_price_minor=cost_line.unit_price_minor,
            amount_minor=cost_line.amount_minor,
        )
        for cost_line in cost.lines
    ]
    return _issue_document(
        session,
        context,
        INVOICE,
        context.block.held,
        lines=lines,
        vat_percent=cost.vat_percent if vat_number else 0,
        vat_minor=cost.vat_minor if vat_number else 0,
        vat_number=vat_number,
        total_minor=cost.total_minor,
        facts=[*context.facts, ("Due", context.due)],
        notes=[f"For questions about payment write to {context.contact}."],
    )


def _issue_missing_credit_note(session: Session, block_id: str) -> Invoice | None:
    """Issue a credit note for invoiced places that a locked block has lost and that are not credited yet, if any."""
    invoices = session.scalars(
        select(Invoice)
        .where(Invoice.block_id == block_id)
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).all()
    if not invoices:
        return None
    context = load_invoice_context(session, block_id)
    charged_quantity = invoices[0].quantity - sum(credit.quantity for credit in invoices[1:])
    if context.block.held >= charged_quantity:
        return None
    return _issue_credit_note(session, context, invoices[0], charged_quantity, context.block.held)


def _issue_credit_note(
    session: Session, context: InvoiceContext, original_invoice: Invoice, quantity_before: int, quantity_after: int
) -> Invoice:
    """Issue a credit note for the difference of two quantities, at the invoiced price of one place."""
    unit_price_minor = original_invoice.total_minor // original_invoice.quantity
    original = parse_document(original_invoice.paper)
    before_minor, after_minor = quantity_before * unit_price_minor, quantity_after * unit_price_minor
    with use_language(SOURCE_LANGUAGE):
        vat_minor, value_notes = calculate_correction(original, before_minor, after_minor)
    credited_quantity = quantity_before - quantity_after
    total_minor = after_minor - before_minor
    line = DocumentLine(
        what=f"{context.ticket_type}: places given back",
        quantity=credited_quantity,
        unit_price_minor=-unit_price_minor,
        amount_minor=total_minor,
    )
    facts = [("For invoice", f"{original.number} of {original.issued}"), *context.facts]
    places = format_count(original_invoice.quantity, "place")
    notes = [f"This corrects invoice {original.number}: {quantity_after} of {places} left."]
    return _issue_document(
        session,
        context,
        CREDIT_NOTE,
        credited_quantity,
        lines=[line],
        vat_percent=original.vat_percent,
        vat_minor=-vat_minor,
        vat_number=original.vat_number,
        layout=original.layout,
        total_minor=total_minor,
        facts=facts,
        notes=[*notes, *value_notes],
    )


def _issue_document(
    session: Session,
    context: InvoiceContext,
    kind: str,
    quantity: int,
    *,
    lines: list[DocumentLine],
    vat_percent: float,
    vat_minor: int,
    vat_number: str,
    total_minor: int,
    facts: list[tuple[str, str]],
    notes: list[str],
    layout: int = LAYOUT_VERSION,
) -> Invoice:
    """Store a document under the next number. Other documents of the organiser wait until the commit.

    The year of the number and the printed date are those of `context.moment` in Windhoek.
    """
    number = take_next_number(session, context.organiser_id, kind, context.moment)
    with use_language(SOURCE_LANGUAGE):
        issued = format_day(context.moment, HOME)
    document = InvoiceDocument(
        kind=kind,
        number=str(number),
        issued=issued,
        seller=context.seller,
        buyer=context.buyer,
        facts=facts,
        lines=lines,
        vat_percent=vat_percent,
        vat_minor=vat_minor,
        vat_number=vat_number,
        total_minor=total_minor,
        notes=[*notes, VAT_NOTE if vat_percent else CURRENCY_NOTE],
        contact=context.contact,
        payment=build_payment_rows(context.organisation.bank, str(number)) if kind == INVOICE else [],
        layout=layout,
    )
    invoice = Invoice(
        id=new_id(),
        block_id=context.block.id,
        event_id=context.block.event_id,
        organiser_id=context.organiser_id,
        kind=kind,
        year=number.year,
        sequence=number.sequence,
        number=document.number,
        quantity=quantity,
        total_minor=total_minor,
        paper=document.to_json(),
        issued_at=context.moment,
    )
    session.add(invoice)
    session.flush()
    record(
        session,
        Action.INVOICE_ISSUED if kind == INVOICE else Action.CREDIT_NOTE_ISSUED,
        organisation_id=invoice.organiser_id,
        event_id=invoice.event_id,
        subject=invoice.id,
        data={"block": invoice.block_id, "number": invoice.number, "totalMinor": total_minor},
    )
    return invoice
