"""Issuing, sending and correcting invoices."""

from datetime import timedelta
from typing import NamedTuple

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.allocations.invoicing import issuance, queries
from app.allocations.invoicing.errors import InvoiceAddressMissing, InvoiceNotIssued
from app.allocations.invoicing.invoice_context import lock_block_for_invoice
from app.allocations.invoicing.invoice_document import InvoiceDocument, parse_document
from app.allocations.invoicing.invoice_pdf import draw_invoice_pdf
from app.allocations.invoicing.models import Invoice
from app.core import throttle
from app.core.db import release_connection
from app.core.errors import NotFound, Throttled
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction

INVOICE_EMAIL_LIMIT = Rule("invoice-mail", 20, timedelta(days=1))


class EnqueuedInvoice(NamedTuple):
    """The number of an invoice, and the address that it is sent to."""

    number: str
    to: str


def get_or_issue_invoice_pdf(
    caller: Caller, event_id: str, block_id: str, *, number: str | None = None
) -> tuple[str, bytes]:
    """Return number and PDF of a block's invoice, which is issued if it was not before, or of a credit note.

    Raises NotFound, NothingToInvoice; InvoiceNotIssued for an admin who may read but not write.
    """
    document = queries.find_invoice_document(caller, event_id, block_id, number=number)
    document = document or _issue_invoice(caller, event_id, block_id)
    release_connection()
    return document.number, draw_invoice_pdf(document)


def enqueue_invoice_email(caller: Caller, event_id: str, block_id: str, *, to: str | None = None) -> EnqueuedInvoice:
    """Enqueue the email of a block's invoice to its holder, or to `to`; issue the invoice if it is not issued yet.

    Raises NotFound, NothingToInvoice, InvoiceAddressMissing, SenderNotVerified, MailLimitReached, and Throttled after
    twenty a day.
    """
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        issued_invoice = issuance.get_or_issue_invoice(session, block_id)
        address = to or block.holder_email
        if address is None:
            raise InvoiceAddressMissing()
        limit_status = throttle.hit(session, INVOICE_EMAIL_LIMIT, block_id)
        if not limit_status.exceeded:
            count_mails(session, load_sender(session, issued_invoice.organiser_id), [address])
            enqueue("allocations.mail_invoice", invoice_id=issued_invoice.id, to=address)
    if limit_status.exceeded:
        raise Throttled("This invoice was sent twenty times today.", retry_after=limit_status.seconds)
    return EnqueuedInvoice(issued_invoice.number, address)


def issue_block_credit_note(block_id: str) -> Invoice | None:
    """Issue a credit note for the places that a block has lost, and enqueue its email to the holder."""
    with transaction() as session:
        block = lock_block_for_invoice(session, block_id)
        if block is None:
            return None
        credit_note = issuance.issue_missing_credit_note(session, block_id)
        if credit_note is not None and block.holder_email:
            enqueue("allocations.mail_invoice", invoice_id=credit_note.id, to=block.holder_email)
    return credit_note


def _issue_invoice(caller: Caller, event_id: str, block_id: str) -> InvoiceDocument:
    with transaction() as session:
        if lock_block_for_invoice(session, block_id, event_id=event_id, caller=caller) is None:
            raise InvoiceNotIssued()
        return parse_document(issuance.get_or_issue_invoice(session, block_id).paper)
