"""Taking back a payment of a block's invoice that was recorded wrongly: another invoice, another amount, typed twice.

The payment and its booking stay. A second row and a booking of today have the same amount the other way, so the books and
the ledger agree at every moment, and the invoice is due again.
"""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from app.accounts.caller import Caller
from app.allocations.errors import InvoiceCredited, MoneyPaidBack, PaymentTakenBack
from app.allocations.invoice_context import lock_block_for_invoice
from app.allocations.invoice_payments import (
    book_payment,
    find_invoice_of_block,
    may_mail_holder,
    record_payment_act,
)
from app.allocations.models import InvoicePayment
from app.allocations.recorded_payments import RecordedPayment, find_next_number, list_payments, sum_charges
from app.audit.actions import Action
from app.core.db import database_now
from app.core.errors import NotFound
from app.core.formatting import HOME
from app.core.outbox import enqueue
from app.core.transaction import transaction


def take_back_payment(caller: Caller, event_id: str, block_id: str, *, number: int, reason: str) -> None:
    """Take back the payment with this number of a block's invoice, and tell the holder.

    Raises NotFound, InvoiceNotIssued, PaymentTakenBack, MoneyPaidBack, InvoiceCredited.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        invoice = find_invoice_of_block(session, event_id, block_id)
        payments = list_payments(invoice)
        payment = find_payment_to_take_back(payments, number, charged_minor=sum_charges(invoice))
        row = InvoicePayment(
            invoice_id=invoice.id,
            number=find_next_number(payments),
            event_id=event_id,
            amount_minor=-payment.amount_minor,
            reference=payment.reference,
            received_on=database_now().astimezone(ZoneInfo(HOME)).date(),
            recorded_by=caller.id,
            takes_back=number,
            reason=reason,
        )
        book_payment(session, invoice, row)
        record_payment_act(session, Action.PAYMENT_TAKEN_BACK, invoice, payment, reason=reason)
        if payment.amount_minor > 0 and may_mail_holder(session, block, invoice):
            enqueue("allocations.mail_payment_taken_back", block_id=block_id, number=number)


def find_payment_to_take_back(
    payments: Sequence[RecordedPayment], number: int, *, charged_minor: int
) -> RecordedPayment:
    """Return the payment with this number of an invoice that is `charged_minor` less its credit notes, in cents.

    Raises NotFound, PaymentTakenBack, MoneyPaidBack, InvoiceCredited.
    """
    payment = next((payment for payment in payments if payment.number == number), None)
    if payment is None:
        raise NotFound()
    if not payment.counts:
        raise PaymentTakenBack()
    if payment.amount_minor > 0:
        if any(other.counts and other.amount_minor < 0 for other in payments):
            raise MoneyPaidBack()
        if charged_minor <= 0:
            raise InvoiceCredited()
    return payment
