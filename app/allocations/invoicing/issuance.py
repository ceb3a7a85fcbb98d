"""Issuing invoices and credit notes, in the caller's transaction and under the block's lock.

Numbers have no gaps: each organiser has one counter for each series and year, whose row stays locked until the commit.
A rollback returns the number, and the next document waits.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.allocations import pricing, sql
from app.allocations.invoicing.errors import NothingToInvoice
from app.allocations.invoicing.invoice_context import InvoiceContext, load_invoice_context
from app.allocations.invoicing.invoice_document import CREDIT_NOTE, INVOICE, DocumentLine, InvoiceDocument
from app.allocations.invoicing.models import Invoice
from app.core.date_format import HOME, format_day
from app.core.ids import new_id

NUMBER_PREFIXES = {CREDIT_NOTE: "CN-"}
PRICES_NOTE = "All amounts are in Namibian dollars. Prices include VAT."


def get_or_issue_invoice(session: Session, block_id: str) -> Invoice:
    """Return the invoice of a locked block; issue it if there is none. Raises NothingToInvoice."""
    existing_invoice = session.scalar(select(Invoice).where(Invoice.block_id == block_id, Invoice.kind == INVOICE))
    if existing_invoice is not None:
        return existing_invoice
    context = load_invoice_context(session, block_id)
    cost = pricing.calculate_block_cost(context.block, context.ticket_type)
    if cost.total_minor == 0:
        raise NothingToInvoice()
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
        vat_percent=cost.vat_percent,
        vat_minor=cost.vat_minor,
        total_minor=cost.total_minor,
        facts=context.facts,
        notes=[PRICES_NOTE, f"For questions about payment write to {context.contact}."],
    )


def issue_missing_credit_note(session: Session, block_id: str) -> Invoice | None:
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
    vat_percent = float(original_invoice.paper["vat_percent"])
    vat_minor = pricing.calculate_vat(quantity_before * unit_price_minor, vat_percent) - pricing.calculate_vat(
        quantity_after * unit_price_minor, vat_percent
    )
    credited_quantity = quantity_before - quantity_after
    total_minor = -credited_quantity * unit_price_minor
    line = DocumentLine(
        what=f"{context.ticket_type}: places given back",
        quantity=credited_quantity,
        unit_price_minor=-unit_price_minor,
        amount_minor=total_minor,
    )
    facts = [("For invoice", f"{original_invoice.number} of {original_invoice.paper['issued']}"), *context.facts]
    notes = [
        f"This corrects invoice {original_invoice.number}: "
        f"{quantity_after} of {original_invoice.quantity} places remain.",
        PRICES_NOTE,
    ]
    return _issue_document(
        session,
        context,
        CREDIT_NOTE,
        credited_quantity,
        lines=[line],
        vat_percent=vat_percent,
        vat_minor=-vat_minor,
        total_minor=total_minor,
        facts=facts,
        notes=notes,
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
    total_minor: int,
    facts: list[tuple[str, str]],
    notes: list[str],
) -> Invoice:
    """Store a document under the next number. Other documents of the organiser wait until the commit.

    The year of the number and the printed date are those of `context.moment` in Windhoek.
    """
    number = take_next_number(session, context.organiser_id, kind, context.moment)
    document = InvoiceDocument(
        kind=kind,
        number=str(number),
        issued=format_day(context.moment, HOME),
        seller=context.seller,
        buyer=context.buyer,
        facts=facts,
        lines=lines,
        vat_percent=vat_percent,
        vat_minor=vat_minor,
        total_minor=total_minor,
        notes=notes,
        contact=context.contact,
    )
    invoice = Invoice(
        id=new_id(),
        block_id=context.block.id,
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
    return invoice


@dataclass(frozen=True)
class InvoiceNumber:
    """The number of a document in its series and year."""

    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return f"{NUMBER_PREFIXES.get(self.series, '')}{self.year}-{self.sequence:06d}"


def take_next_number(session: Session, organiser_id: str, series: str, moment: datetime) -> InvoiceNumber:
    """Return the organiser's next number of a series, in the year of `moment` in Windhoek."""
    params = {"organiser_id": organiser_id, "series": series, "moment": moment, "home": HOME}
    row = session.execute(sql.TAKE_INVOICE_NUMBER, params).one()
    return InvoiceNumber(series, *row)
