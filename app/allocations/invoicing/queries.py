"""Reads of invoices, always through the owner of the event."""

from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.allocations.invoicing.errors import InvoiceNotIssued
from app.allocations.invoicing.models import Invoice
from app.allocations.invoicing.paper import CREDIT_NOTE, INVOICE, Paper, read
from app.allocations.models import AllocationBlock
from app.core.db import db
from app.core.errors import NotFound
from app.events import queries as events
from app.events.models import Event

ISSUED, CREDITED = "issued", "credited"


def paper(caller: Caller, event_id: str, block_id: str, *, number: str | None = None) -> Paper | None:
    """A block's invoice, or the credit note of that number; None while no invoice is issued. Raises NotFound."""
    wanted = Invoice.kind == INVOICE if number is None else Invoice.number == number
    row = db.session.execute(
        select(AllocationBlock.id, Invoice.paper)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, and_(Invoice.block_id == AllocationBlock.id, wanted))
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller, events.READS))
    ).first()
    if row is None or (number is not None and row[1] is None):
        raise NotFound()
    return None if row[1] is None else read(row[1])


def papers(caller: Caller, event_id: str, block_id: str) -> dict[str, Any]:
    """A block's invoice with its credit notes. Raises NotFound, InvoiceNotIssued."""
    rows = db.session.execute(
        select(Invoice)
        .select_from(AllocationBlock)
        .join(Event, Event.id == AllocationBlock.event_id)
        .outerjoin(Invoice, Invoice.block_id == AllocationBlock.id)
        .where(AllocationBlock.id == block_id, Event.id == event_id, events.owned(caller, events.READS))
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).scalars()
    original, *notes = list(rows) or [_missing()]
    if original is None:
        raise InvoiceNotIssued()
    return {
        "number": original.number,
        "status": CREDITED if notes else ISSUED,
        "issued_at": original.issued_at,
        "total_minor": original.total_minor,
        "credited_minor": -sum(each.total_minor for each in notes),
        "credit_notes": notes,
    }


def summary(block_id: Any) -> ColumnElement[Any]:
    """For a select of blocks: the invoice of each as JSON `{number, status, total_minor}`, null while there is none.

    `total_minor` is what the invoice says; `credited` is the status as soon as there is a credit note.
    """
    note = aliased(Invoice)
    noted = select(note.id).where(note.block_id == Invoice.block_id, note.kind == CREDIT_NOTE).exists()
    found: ColumnElement[Any] = (
        select(
            func.json_build_object(
                "number",
                Invoice.number,
                "status",
                case((noted, CREDITED), else_=ISSUED),
                "total_minor",
                Invoice.total_minor,
            )
        )
        .where(Invoice.block_id == block_id, Invoice.kind == INVOICE)
        .scalar_subquery()
    )
    return found


def _missing() -> Invoice:
    raise NotFound()
