"""Reads of invoices by the owner of the event."""

from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.accounts.caller import Caller
from app.allocations.invoicing.errors import InvoiceNotIssued
from app.allocations.invoicing.invoice_document import CREDIT_NOTE, INVOICE, InvoiceDocument, parse_document
from app.allocations.invoicing.models import Invoice
from app.allocations.models import AllocationBlock
from app.core.db import db
from app.core.errors import NotFound
from app.events import queries as events
from app.events.models import Event

ISSUED, CREDITED = "issued", "credited"


class IssuedInvoice(TypedDict):
    """A block's invoice, and the credit notes for it, whose sum is `credited_minor`."""

    number: str
    status: str
    issued_at: datetime
    total_minor: int
    credited_minor: int
    credit_notes: list[Invoice]


def find_invoice_document(
    caller: Caller, event_id: str, block_id: str, *, number: str | None = None
) -> InvoiceDocument | None:
    """Return a block's invoice, or its credit note with that number; None if no invoice is issued. Raises NotFound."""
    invoice_condition = Invoice.kind == INVOICE if number is None else Invoice.number == number
    row = db.session.execute(
        select(AllocationBlock.id, Invoice.paper)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, and_(Invoice.block_id == AllocationBlock.id, invoice_condition))
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller, events.READS))
    ).first()
    if row is None or (number is not None and row[1] is None):
        raise NotFound()
    return None if row[1] is None else parse_document(row[1])


def get_invoice(caller: Caller, event_id: str, block_id: str) -> IssuedInvoice:
    """Return a block's invoice with its credit notes. Raises NotFound, InvoiceNotIssued."""
    rows = db.session.execute(
        select(Invoice)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, Invoice.block_id == AllocationBlock.id)
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller, events.READS))
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).scalars()
    invoices = rows.all()
    if not invoices:
        raise NotFound()
    invoice, *credit_notes = invoices
    if invoice is None:
        raise InvoiceNotIssued()
    return {
        "number": invoice.number,
        "status": CREDITED if credit_notes else ISSUED,
        "issued_at": invoice.issued_at,
        "total_minor": invoice.total_minor,
        "credited_minor": -sum(credit_note.total_minor for credit_note in credit_notes),
        "credit_notes": credit_notes,
    }


def invoice_summary_sql(block_id: InstrumentedAttribute[str]) -> ColumnElement[Any]:
    """Return a column with a block's invoice as JSON `{number, status, total_minor}`; null if none is issued.

    The status is `credited` if there is a credit note.
    """
    credit_note = aliased(Invoice)
    has_credit_note = (
        select(credit_note.id).where(credit_note.block_id == Invoice.block_id, credit_note.kind == CREDIT_NOTE).exists()
    )
    summary_sql: ColumnElement[Any] = (
        select(
            func.json_build_object(
                "number",
                Invoice.number,
                "status",
                case((has_credit_note, CREDITED), else_=ISSUED),
                "total_minor",
                Invoice.total_minor,
            )
        )
        .where(Invoice.block_id == block_id, Invoice.kind == INVOICE)
        .scalar_subquery()
    )
    return summary_sql
