"""Payments of blocks' invoices: recording a bank transfer, its booking in the ledger, and the integrity check of both.

The block is locked, as it is when a credit note is issued. So what is due is the invoice less its credit notes, and it is
paid once. A credit note that comes after the payment leaves money that the organiser owes back.
"""

from datetime import date

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.allocations import sql
from app.allocations.errors import InvoiceNotIssued, InvoiceSettled
from app.allocations.invoice_context import lock_block_for_invoice
from app.allocations.models import Invoice, InvoicePayment
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction
from app.invoicing.documents import INVOICE
from app.invoicing.transfers import list_transfer_errors
from app.ledger.commands import register_check
from app.ledger.models import BANK, BLOCK_INVOICE, ORGANISATION
from app.ledger.transactions import post_event_transaction


def receive_invoice_payment(
    caller: Caller, event_id: str, block_id: str, *, amount_minor: int, reference: str, received_on: date
) -> None:
    """Record that all that is due for a block's invoice came in by bank transfer. The same amount and reference again
    change nothing.

    Raises NotFound, InvoiceNotIssued, InvoiceSettled, and ValidationFailed for another amount than is due and for a date
    in the future or more than a year ago.
    """
    with transaction() as session:
        if lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller) is None:
            raise NotFound()
        is_of_block = (Invoice.block_id == block_id, Invoice.event_id == event_id)
        invoice = session.scalar(select(Invoice).where(*is_of_block, Invoice.kind == INVOICE))
        if invoice is None:
            raise InvoiceNotIssued()
        payment = session.get(InvoicePayment, invoice.id)
        if payment is not None and (payment.amount_minor, payment.reference) == (amount_minor, reference):
            return
        due_minor = session.scalar(select(func.sum(Invoice.total_minor)).where(*is_of_block)) or 0
        if payment is not None or due_minor <= 0:
            raise InvoiceSettled()
        due_minor = int(due_minor)
        errors = list_transfer_errors("What is due is", due_minor, amount_minor=amount_minor, received_on=received_on)
        if errors:
            raise ValidationFailed(errors)
        session.add(
            InvoicePayment(
                invoice_id=invoice.id,
                event_id=event_id,
                amount_minor=due_minor,
                reference=reference,
                received_on=received_on,
                recorded_by=caller.id,
            )
        )
        session.flush()
        post_event_transaction(
            BLOCK_INVOICE,
            invoice.id,
            invoice.organiser_id,
            event_id,
            {ORGANISATION: due_minor, BANK: -due_minor},
            description=invoice.number,
        )
        record(
            session,
            Action.INVOICE_RECEIVED,
            organisation_id=invoice.organiser_id,
            event_id=event_id,
            subject=invoice.id,
            data={
                "block": block_id,
                "number": invoice.number,
                "amountMinor": due_minor,
                "reference": reference,
                "receivedOn": received_on.isoformat(),
            },
        )


register_check("every payment of a block's invoice is booked, once", sql.PAYMENTS_UNLIKE_THEIR_BOOKINGS)
