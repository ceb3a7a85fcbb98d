"""Writing an invoice or a credit note, inside the caller's transaction and under the block's lock.

Numbers without gaps: one counter for each organiser, series and year.

The next number is taken in the transaction that issues the paper. It holds the counter's row until it commits, so the
next paper waits for it; what rolls back gives its number back.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app.allocations import pricing
from app.allocations.invoicing.errors import NothingToInvoice
from app.allocations.invoicing.invoice_context import InvoiceContext, load_invoice_context
from app.allocations.invoicing.invoice_document import CREDIT_NOTE, INVOICE, DocumentLine, InvoiceDocument
from app.allocations.invoicing.models import Invoice
from app.core.date_format import HOME, format_day
from app.core.ids import new_id

PRICES_NOTE = "All amounts are in Namibian dollars. Prices include VAT."


def get_or_issue_invoice(session: Session, block_id: str) -> Invoice:
    """The invoice of a locked block: the one there is, or a new one. Raises NothingToInvoice."""
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
    """A credit note for the places that a locked block has lost since they were invoiced; None when there are none.

    What was credited before counts, so it does not matter how often, or for what, this is called.
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
    if context.block.held >= charged_quantity:
        return None
    return _issue_credit_note(session, context, invoices[0], charged_quantity, context.block.held)


def _issue_credit_note(
    session: Session, context: InvoiceContext, original_invoice: Invoice, quantity_before: int, quantity_after: int
) -> Invoice:
    """A credit note over the places from `before` down to `after`, at what each of them was invoiced with."""
    unit_price_minor, vat_percent = (
        original_invoice.total_minor // original_invoice.quantity,
        float(original_invoice.paper["vat_percent"]),
    )
    vat_minor = pricing.calculate_vat(quantity_before * unit_price_minor, vat_percent) - pricing.calculate_vat(
        quantity_after * unit_price_minor, vat_percent
    )
    credited_quantity, total_minor = (
        quantity_before - quantity_after,
        -(quantity_before - quantity_after) * unit_price_minor,
    )
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
    """The paper under the next number. The number comes last: until the commit everybody else waits for it.

    One moment decides the year of the number and the date that is printed, both by the calendar of Windhoek.
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
    invoice_row = Invoice(
        id=new_id(),
        block_id=context.block.id,
        organiser_id=context.organiser_id,
        kind=kind,
        year=number.year,
        sequence=number.sequence,
        number=document.number,
        quantity=quantity,
        total_minor=total_minor,
        paper=document.to_dict(),
        issued_at=context.moment,
    )
    session.add(invoice_row)
    session.flush()
    return invoice_row


NUMBER_PREFIXES = {CREDIT_NOTE: "CN-"}
TAKE_NUMBER = text("""
    INSERT INTO invoice_counter (organiser_id, series, year, last)
    VALUES (:organiser_id, :series, extract(year FROM CAST(:moment AS timestamptz) AT TIME ZONE :home), 1)
        ON CONFLICT (organiser_id, series, year) DO UPDATE SET last = invoice_counter.last + 1
    RETURNING year, last
""")


@dataclass(frozen=True)
class InvoiceNumber:
    """The place of a paper in its series."""

    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return f"{NUMBER_PREFIXES.get(self.series, '')}{self.year}-{self.sequence:06d}"


def take_next_number(session: Session, organiser_id: str, series: str, moment: datetime) -> InvoiceNumber:
    """The organiser's next number of a series in the year of `moment`, by the calendar of Windhoek."""
    params = {"organiser_id": organiser_id, "series": series, "moment": moment, "home": HOME}
    row = session.execute(TAKE_NUMBER, params).one()
    return InvoiceNumber(series, *row)
