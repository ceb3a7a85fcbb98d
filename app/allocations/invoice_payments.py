"""Payments of blocks' invoices: recording a bank transfer and its booking in the ledger.

The block is locked, as it is when a credit note is issued. So what is due is the invoice less its credit notes and what
was paid before, and no more is recorded, but for the amount of a payment that was taken back: a credit note may have come
since. A credit note that comes after a payment may leave money that the organiser owes back.

A payment never changes. One that was recorded wrongly is taken back by a row and a booking of the same amount the other way
(`payment_take_backs`), so the sums of all rows are what was paid.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple, NotRequired, TypedDict, Unpack

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import MAILS_PER_SENDER
from app.allocations.errors import InvoiceNotIssued, InvoiceSettled
from app.allocations.invoice_context import lock_block_for_invoice
from app.allocations.models import AllocationBlock, Invoice, InvoicePayment
from app.allocations.recorded_payments import RecordedPayment, find_next_number, list_payments, sum_charges, sum_counted
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound, ValidationFailed
from app.core.outbox import enqueue_all, job_spec
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.invoicing.documents import INVOICE
from app.invoicing.transfers import list_transfer_errors
from app.ledger.models import BANK, BLOCK_INVOICE, ORGANISATION
from app.ledger.transactions import post_event_transaction

RECEIPTS_PER_BLOCK = Rule("invoice-receipt", 20, timedelta(days=1))
"""Mails about payments of one invoice. Beyond it payments are recorded, and no mail goes out."""


class Transfer(TypedDict):
    """A bank transfer: what came in, all that is due or a `part` of it, or with `paid_back` what the organiser has sent."""

    amount_minor: int
    reference: str
    received_on: date
    part: NotRequired[bool]
    paid_back: NotRequired[bool]


class PaymentReceipt(NamedTuple):
    """The mail about the payment with this number to the holder of a block."""

    block_id: str
    number: int
    organisation_id: str


def receive_invoice_payment(caller: Caller, event_id: str, block_id: str, **transfer: Unpack[Transfer]) -> None:
    """Record that what is due for a block's invoice came in by bank transfer, or what is owed after a credit note went out.

    When nothing is left, a transfer of the same amount, reference and day again changes nothing. Raises NotFound,
    InvoiceNotIssued, InvoiceSettled, and ValidationFailed for another amount than is due (of a part: for more), for a date
    in the future or more than a year ago, and for a transfer like one that is recorded.
    """
    with transaction() as session:
        if receipt := record_invoice_payment(session, caller, event_id, block_id, **transfer):
            enqueue_receipts(session, [receipt])


def record_invoice_payment(
    session: ReadOrWriteSession,
    caller: Caller,
    event_id: str,
    block_id: str,
    *,
    is_another: bool = False,
    **transfer: Unpack[Transfer],
) -> PaymentReceipt | None:
    """`receive_invoice_payment` in a transaction that is open. `is_another` is for a caller who knows that it is another
    transfer, though one like it may be recorded.

    Returns the receipt for the holder, which the caller enqueues.
    """
    amount_minor, reference, received_on = transfer["amount_minor"], transfer["reference"], transfer["received_on"]
    is_paid_back, is_part = transfer.get("paid_back", False), transfer.get("part", False)
    block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
    if block is None:
        raise NotFound()
    invoice = find_invoice_of_block(session, event_id, block_id)
    payments = list_payments(invoice)
    transfers = [
        (payment.amount_minor, payment.reference, payment.received_on) for payment in payments if payment.counts
    ]
    sign = -1 if is_paid_back else 1
    is_repeated = not is_another and (sign * amount_minor, reference, received_on) in transfers
    due_minor = sign * (sum_charges(invoice) - sum_counted(payments))
    if due_minor <= 0 and is_repeated:
        return None
    if due_minor <= 0:
        raise InvoiceSettled()
    was_taken_back = any(not it.counts and it.amount_minor == sign * amount_minor for it in payments)
    errors = list_transfer_errors(
        "You owe back" if is_paid_back else "What is due is",
        max(due_minor, amount_minor) if was_taken_back else due_minor,
        amount_minor=amount_minor,
        received_on=received_on,
        part=is_part,
    )
    if is_repeated:
        message = (
            "A transfer of this amount, text and day is recorded. If this is another one, give it another reference."
        )
        errors.append({"path": "reference", "code": "repeated", "message": message})
    if errors:
        raise ValidationFailed(errors)
    payment = InvoicePayment(
        invoice_id=invoice.id,
        number=find_next_number(payments),
        event_id=event_id,
        amount_minor=sign * amount_minor,
        reference=reference,
        received_on=received_on,
        recorded_by=caller.id,
    )
    book_payment(session, invoice, payment)
    record_payment_act(session, Action.INVOICE_RECEIVED, invoice, payment)
    if is_paid_back or not block.holder_email:
        return None
    return PaymentReceipt(block_id, payment.number, invoice.organiser_id)


def enqueue_receipts(session: ReadOrWriteSession, receipts: Sequence[PaymentReceipt]) -> None:
    """Enqueue these mails to holders of blocks, but those beyond the mails of a day.

    They are counted in one statement, at the end of a transaction: others who mail for the organisation wait from then on.
    """
    limits = [
        ((RECEIPTS_PER_BLOCK, receipt.block_id), (MAILS_PER_SENDER, receipt.organisation_id)) for receipt in receipts
    ]
    hits = Counter(subject for subjects in limits for subject in subjects)
    statuses = zip(hits, throttle.hit_many(session, hits), strict=True) if hits else ()
    left = {subject: status.rule.allowed - status.hits + hits[subject] for subject, status in statuses}
    jobs = []
    for receipt, subjects in zip(receipts, limits, strict=True):
        if all(left[subject] > 0 for subject in subjects):
            jobs.append(job_spec("allocations.mail_payment", block_id=receipt.block_id, number=receipt.number))
        for subject in subjects:
            left[subject] -= 1
    enqueue_all(jobs)


def find_invoice_of_block(session: ReadOrWriteSession, event_id: str, block_id: str) -> Invoice:
    """Return the invoice of a block. Raises InvoiceNotIssued."""
    is_asked = (Invoice.block_id == block_id, Invoice.event_id == event_id, Invoice.kind == INVOICE)
    invoice = session.scalar(select(Invoice).where(*is_asked))
    if invoice is None:
        raise InvoiceNotIssued()
    return invoice


def book_payment(session: ReadOrWriteSession, invoice: Invoice, payment: InvoicePayment) -> None:
    """Store a payment of an invoice of a locked block, with its booking in the ledger."""
    session.add(payment)
    session.flush()
    post_event_transaction(
        BLOCK_INVOICE,
        payment.booking,
        invoice.organiser_id,
        invoice.event_id,
        {ORGANISATION: payment.amount_minor, BANK: -payment.amount_minor},
        description=invoice.number,
    )


def record_payment_act(
    session: ReadOrWriteSession,
    action: Action,
    invoice: Invoice,
    payment: InvoicePayment | RecordedPayment,
    **details: str,
) -> None:
    """Write an act on a payment of a block's invoice into the audit trail."""
    data = {
        "block": invoice.block_id,
        "number": invoice.number,
        "amountMinor": payment.amount_minor,
        "reference": payment.reference,
        "receivedOn": payment.received_on.isoformat(),
        **details,
    }
    organisation_id, event_id = invoice.organiser_id, invoice.event_id
    record(session, action, organisation_id=organisation_id, event_id=event_id, subject=invoice.id, data=data)


def may_mail_holder(session: ReadOrWriteSession, block: AllocationBlock, invoice: Invoice) -> bool:
    """Count a mail about a payment of an invoice to the holder of its block.

    Returns whether it may go out: not without an address, nor after the mails of a day.
    """
    limits = ((RECEIPTS_PER_BLOCK, block.id), (MAILS_PER_SENDER, invoice.organiser_id))
    return bool(block.holder_email) and not any(status.exceeded for status in throttle.hit_all(session, *limits))


@dataclass
class OpenInvoice:
    """An invoice with what is due for it, in cents."""

    event_id: str
    block_id: str
    due_minor: int


def lock_invoices(
    session: ReadOrWriteSession, event_ids: Collection[str], numbers: Collection[str]
) -> dict[str, OpenInvoice]:
    """Lock the blocks of the invoices of events with these numbers, in the order of their ids.

    Returns the invoices by number. The events are of one organisation, in which a number is unique.
    """
    if not numbers:
        return {}
    is_asked = (Invoice.event_id.in_(event_ids), Invoice.kind == INVOICE, Invoice.number == func.any(list(numbers)))
    block_ids = session.scalars(select(Invoice.block_id).where(*is_asked)).all()
    session.execute(
        select(AllocationBlock.id)
        .where(AllocationBlock.event_id.in_(event_ids), AllocationBlock.id.in_(block_ids))
        .order_by(AllocationBlock.id)
        .with_for_update()
    )
    invoices = session.scalars(select(Invoice).where(*is_asked)).all()
    charged = session.execute(
        select(Invoice.block_id, func.sum(Invoice.total_minor))
        .where(Invoice.event_id.in_(event_ids), Invoice.block_id.in_(block_ids))
        .group_by(Invoice.block_id)
    )
    charged_by_block = {block_id: int(total_minor) for block_id, total_minor in charged}
    invoice_ids = [invoice.id for invoice in invoices]
    paid = session.execute(
        select(InvoicePayment.invoice_id, func.sum(InvoicePayment.amount_minor))
        .where(InvoicePayment.event_id.in_(event_ids), InvoicePayment.invoice_id.in_(invoice_ids))
        .group_by(InvoicePayment.invoice_id)
    )
    paid_by_invoice = {invoice_id: int(amount_minor) for invoice_id, amount_minor in paid}
    return {
        invoice.number: OpenInvoice(
            invoice.event_id, invoice.block_id, charged_by_block[invoice.block_id] - paid_by_invoice.get(invoice.id, 0)
        )
        for invoice in invoices
    }
