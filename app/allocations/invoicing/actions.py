"""Issuing, sending and correcting invoices."""

from datetime import timedelta
from typing import Any

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.allocations.invoicing import issuing, queries
from app.allocations.invoicing.drawing import pdf_of
from app.allocations.invoicing.errors import InvoiceAddressMissing, InvoiceNotIssued
from app.allocations.invoicing.models import Invoice
from app.allocations.invoicing.paper import Paper, read
from app.allocations.invoicing.subject import locked
from app.core import throttle
from app.core.db import release
from app.core.errors import NotFound, Throttled
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction

SENDING = Rule("invoice-mail", 20, timedelta(days=1))


def invoice_pdf(caller: Caller, event_id: str, block_id: str, *, number: str | None = None) -> tuple[str, bytes]:
    """Number and bytes of a block's invoice, issued now if it was not before; or of its credit note of that number.

    Raises NotFound, NothingToInvoice; and InvoiceNotIssued for an admin who may read but not write.
    """
    found = queries.paper(caller, event_id, block_id, number=number)
    found = found or _issue(caller, event_id, block_id)
    release()
    return found.number, pdf_of(found)


def mail_invoice(caller: Caller, event_id: str, block_id: str, *, to: str | None = None) -> dict[str, Any]:
    """Sends a block's invoice to its holder, or to `to`; issues it first if need be.

    Raises NotFound, NothingToInvoice, InvoiceAddressMissing, SenderNotVerified, MailLimitReached, and Throttled after
    twenty a day.
    """
    with transaction() as session:
        block = locked(session, block_id, event_id=event_id, caller=caller)
        if block is None:
            raise NotFound()
        made = issuing.invoice(session, block_id)
        address = to or block.holder_email
        if address is None:
            raise InvoiceAddressMissing()
        sent = throttle.hit(session, SENDING, block_id)
        if not sent.exceeded:
            count_mails(session, load_sender(session, made.organiser_id), [address])
            enqueue("allocations.mail_invoice", invoice_id=made.id, to=address)
    if sent.exceeded:
        raise Throttled("This invoice was sent twenty times today.", retry_after=sent.seconds)
    return {"number": made.number, "to": address}


def credit(block_id: str) -> Invoice | None:
    """Issues the credit note that a block's lost places call for, and sends it to the holder."""
    with transaction() as session:
        block = locked(session, block_id)
        if block is None:
            return None
        made = issuing.credit_note(session, block_id)
        if made is not None and block.holder_email:
            enqueue("allocations.mail_invoice", invoice_id=made.id, to=block.holder_email)
    return made


def _issue(caller: Caller, event_id: str, block_id: str) -> Paper:
    with transaction() as session:
        if locked(session, block_id, event_id=event_id, caller=caller) is None:
            raise InvoiceNotIssued()
        return read(issuing.invoice(session, block_id).paper)
