"""The payments of a block's invoice as they were recorded, with those that were taken back, and their integrity checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, func, select
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.allocations import sql
from app.allocations.models import AllocationBlock, Invoice, InvoicePayment
from app.core.db import db
from app.events.event_rows import belongs_to
from app.invoicing.documents import INVOICE
from app.ledger.commands import register_check


@dataclass(frozen=True)
class TakenBack:
    """When a payment was taken back, by the person with that name if it is known, and why."""

    at: datetime
    by: str | None
    reason: str


@dataclass(frozen=True)
class RecordedPayment:
    """A payment as it was recorded, in cents, and whether it was taken back; below zero it was paid back."""

    number: int
    amount_minor: int
    reference: str
    received_on: date
    taken_back: TakenBack | None

    @property
    def counts(self) -> bool:
        return self.taken_back is None


def list_payments(invoice: Invoice) -> list[RecordedPayment]:
    """Return the payments of an invoice, the first first, also those that were taken back."""
    back = aliased(InvoicePayment)
    is_taken_back = and_(
        back.invoice_id == InvoicePayment.invoice_id,
        back.event_id == InvoicePayment.event_id,
        back.takes_back == InvoicePayment.number,
    )
    statement = (
        select(InvoicePayment, back, Account.name)
        .outerjoin(back, is_taken_back)
        .outerjoin(Account, Account.id == back.recorded_by)
        .where(
            InvoicePayment.invoice_id == invoice.id,
            InvoicePayment.event_id == invoice.event_id,
            InvoicePayment.takes_back.is_(None),
        )
    )
    return [
        RecordedPayment(
            row.number,
            row.amount_minor,
            row.reference,
            row.received_on,
            TakenBack(back.recorded_at, name, back.reason or "") if back else None,
        )
        for row, back, name in db.session.execute(statement.order_by(InvoicePayment.number))
    ]


def sum_counted(payments: Sequence[RecordedPayment]) -> int:
    """Return what was paid, less what was paid back, in cents."""
    return sum(payment.amount_minor for payment in payments if payment.counts)


def find_next_number(payments: Sequence[RecordedPayment]) -> int:
    """Return the number of the next row; one that takes back a payment has a number too."""
    return 1 + len(payments) + sum(not payment.counts for payment in payments)


def sum_charges(invoice: Invoice) -> int:
    """The invoice less its credit notes, in cents."""
    is_of_block = (Invoice.block_id == invoice.block_id, Invoice.event_id == invoice.event_id)
    return int(db.session.scalar(select(func.sum(Invoice.total_minor)).where(*is_of_block)) or 0)


class Receipt(NamedTuple):
    """A payment of an invoice, what was left to pay after it, and the address of the holder; below zero it is owed back."""

    organiser_id: str
    paper: dict[str, Any]
    amount_minor: int
    received_on: date
    due_minor: int
    to: str


def find_receipt(block_id: str, number: int, *, is_taken_back: bool = False) -> Receipt | None:
    """The payment of a block's invoice with this number, which counts, or was taken back; else None.

    It is None also if the holder has no address. What is due is without later payments, but for one that was taken back.
    """
    row = db.session.execute(
        select(Invoice, AllocationBlock.holder_email)
        .join(AllocationBlock, belongs_to(Invoice.block_id, AllocationBlock))
        .where(AllocationBlock.id == block_id, Invoice.kind == INVOICE)
    ).first()
    if row is None or row.holder_email is None:
        return None
    invoice: Invoice = row.Invoice
    payments = list_payments(invoice)
    payment = next((payment for payment in payments if payment.number == number), None)
    if payment is None or payment.counts == is_taken_back:
        return None
    due_minor = sum_charges(invoice) - sum_counted([it for it in payments if is_taken_back or it.number <= number])
    return Receipt(
        invoice.organiser_id, invoice.paper, payment.amount_minor, payment.received_on, due_minor, row.holder_email
    )


register_check("every payment of a block's invoice is booked, once", sql.PAYMENTS_UNLIKE_THEIR_BOOKINGS)
register_check(
    "every payment that was taken back is booked the other way, once", sql.PAYMENTS_UNLIKE_WHAT_TAKES_THEM_BACK
)
