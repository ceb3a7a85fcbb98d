"""Issuing invoices and credit notes of a locked block, under the organiser's next number.

What an invoice will say is built without a number, so that a preview takes none.
"""

import hashlib
import json
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.allocations import pricing
from app.allocations.errors import NothingToInvoice
from app.allocations.invoice_context import InvoiceContext, load_invoice_context
from app.allocations.models import Invoice
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import StaleVersion
from app.core.formatting import HOME, format_count, format_day
from app.core.ids import new_id
from app.core.languages import SOURCE_LANGUAGE, mark_for_translation, use_language
from app.events.models import Event
from app.events.visibility import CANCELLED
from app.invoicing.documents import (
    CREDIT_NOTE,
    CURRENCY_NOTE,
    INVOICE,
    LAYOUT_VERSION,
    PREVIEW_REFERENCE,
    VAT_NOTE,
    DocumentLine,
    InvoiceDocument,
    build_payment_rows,
    calculate_correction,
    parse_document,
)
from app.invoicing.numbers import take_next_number

DUE = "Due"
EVENT_CANCELLED, PLACES_RETURNED = "the event is cancelled", "places given back"
"""Why a credit note is issued: the end of its only line."""
PREVIEW_CHANGED_MESSAGE = mark_for_translation(
    "The invoice would say something else now than the preview that you read. Read it again, and then issue it."
)


def get_or_issue_invoice(session: Session, block_id: str, *, expected_digest: str | None = None) -> Invoice:
    """Return the invoice of a locked block; issue it if there is none.

    Raises NothingToInvoice, and StaleVersion if the invoice would say something else than the preview of that digest.
    """
    existing_invoice = session.scalar(select(Invoice).where(Invoice.block_id == block_id, Invoice.kind == INVOICE))
    if existing_invoice is not None:
        return existing_invoice
    context = load_invoice_context(session, block_id)
    document = build_invoice_document(context)
    if expected_digest not in (None, digest_document(document, context)):
        raise StaleVersion(PREVIEW_CHANGED_MESSAGE)
    return _issue_document(session, context, document, quantity=context.block.held)


def build_invoice_document(context: InvoiceContext) -> InvoiceDocument:
    """Return what the invoice of a block says, without its number. Raises NothingToInvoice."""
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
    return _build_document(
        context,
        INVOICE,
        buyer=context.buyer,
        lines=lines,
        vat_percent=cost.vat_percent if vat_number else 0,
        vat_minor=cost.vat_minor if vat_number else 0,
        vat_number=vat_number,
        total_minor=cost.total_minor,
        facts=[*context.facts, (DUE, context.due)],
        notes=[f"For questions about payment write to {context.contact}."],
    )


def digest_document(document: InvoiceDocument, context: InvoiceContext) -> str:
    """Return what is the same for two invoices that say the same but for number and dates, in 32 hexadecimal digits.

    The day until which the invoice is to be paid counts if the organiser has chosen it.
    """
    facts = [fact for fact in document.facts if fact[0] != DUE or context.block.pay_by]
    undated = replace(
        document, issued="", facts=facts, payment=build_payment_rows(context.organisation.bank, PREVIEW_REFERENCE)
    )
    return hashlib.sha256(json.dumps(undated.to_json(), sort_keys=True).encode()).hexdigest()[:32]


def issue_missing_credit_note(session: Session, block_id: str, *, credits_all: bool = False) -> Invoice | None:
    """Issue a credit note for invoiced places that a locked block has lost and that are not credited yet, if any.

    With `credits_all`, because the event does not take place, it is for all that are not credited yet.
    """
    invoices = session.scalars(
        select(Invoice)
        .where(Invoice.block_id == block_id)
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).all()
    if not invoices:
        return None
    context = load_invoice_context(session, block_id)
    charged_quantity = invoices[0].quantity - sum(credit.quantity for credit in invoices[1:])
    kept_quantity = 0 if credits_all else context.block.held
    if kept_quantity >= charged_quantity:
        return None
    visibility = session.scalar(select(Event.visibility).where(Event.id == context.block.event_id))
    reason = EVENT_CANCELLED if visibility == CANCELLED else PLACES_RETURNED
    document = _build_credit_note(context, invoices[0], charged_quantity, kept_quantity, reason)
    return _issue_document(session, context, document, quantity=charged_quantity - kept_quantity)


def credits_cancelled_event(document: InvoiceDocument) -> bool:
    """Return whether a credit note is issued because the event is cancelled, and not for places that were given back."""
    return any(line.what.endswith(f": {EVENT_CANCELLED}") for line in document.lines)


def _build_credit_note(
    context: InvoiceContext, original_invoice: Invoice, quantity_before: int, quantity_after: int, reason: str
) -> InvoiceDocument:
    """Return the credit note for the difference of two quantities, at the invoiced price of one place, for the same buyer."""
    unit_price_minor = original_invoice.total_minor // original_invoice.quantity
    original = parse_document(original_invoice.paper)
    before_minor, after_minor = quantity_before * unit_price_minor, quantity_after * unit_price_minor
    with use_language(SOURCE_LANGUAGE):
        vat_minor, value_notes = calculate_correction(original, before_minor, after_minor)
    total_minor = after_minor - before_minor
    line = DocumentLine(
        what=f"{context.ticket_type}: {reason}",
        quantity=quantity_before - quantity_after,
        unit_price_minor=-unit_price_minor,
        amount_minor=total_minor,
    )
    places = format_count(original_invoice.quantity, "place")
    left = f"{quantity_after} of {places} left" if quantity_after else f"none of {places} is charged"
    why = "The event is cancelled. " if reason == EVENT_CANCELLED else ""
    return _build_document(
        context,
        CREDIT_NOTE,
        buyer=original.buyer,
        lines=[line],
        vat_percent=original.vat_percent,
        vat_minor=-vat_minor,
        vat_number=original.vat_number,
        layout=original.layout,
        total_minor=total_minor,
        facts=[("For invoice", f"{original.number} of {original.issued}"), *context.facts],
        notes=[f"{why}This corrects invoice {original.number}: {left}.", *value_notes],
    )


def _build_document(
    context: InvoiceContext,
    kind: str,
    *,
    buyer: list[str],
    lines: list[DocumentLine],
    vat_percent: float,
    vat_minor: int,
    vat_number: str,
    total_minor: int,
    facts: list[tuple[str, str]],
    notes: list[str],
    layout: int = LAYOUT_VERSION,
) -> InvoiceDocument:
    """Return a document without a number. Its printed date is that of `context.moment` in Windhoek."""
    with use_language(SOURCE_LANGUAGE):
        issued = format_day(context.moment, HOME)
    return InvoiceDocument(
        kind=kind,
        number="",
        issued=issued,
        seller=context.seller,
        buyer=buyer,
        facts=facts,
        lines=lines,
        vat_percent=vat_percent,
        vat_minor=vat_minor,
        vat_number=vat_number,
        total_minor=total_minor,
        notes=[*notes, VAT_NOTE if vat_percent else CURRENCY_NOTE],
        contact=context.contact,
        layout=layout,
    )


def _issue_document(session: Session, context: InvoiceContext, document: InvoiceDocument, *, quantity: int) -> Invoice:
    """Store a document under the next number, in the year of `context.moment` in Windhoek. Other documents of the
    organiser wait until the commit.
    """
    number = take_next_number(session, context.organiser_id, document.kind, context.moment)
    payment = build_payment_rows(context.organisation.bank, str(number)) if document.kind == INVOICE else []
    document = replace(document, number=str(number), payment=payment)
    invoice = Invoice(
        id=new_id(),
        block_id=context.block.id,
        event_id=context.block.event_id,
        organiser_id=context.organiser_id,
        kind=document.kind,
        year=number.year,
        sequence=number.sequence,
        number=document.number,
        quantity=quantity,
        total_minor=document.total_minor,
        paper=document.to_json(),
        issued_at=context.moment,
    )
    session.add(invoice)
    session.flush()
    record(
        session,
        Action.INVOICE_ISSUED if document.kind == INVOICE else Action.CREDIT_NOTE_ISSUED,
        organisation_id=invoice.organiser_id,
        event_id=invoice.event_id,
        subject=invoice.id,
        data={"block": invoice.block_id, "number": invoice.number, "totalMinor": document.total_minor},
    )
    return invoice
