"""Papers of a block: `/api/events/{eventId}/allocations/{blockId}/invoice.pdf` and what belongs to it."""

from typing import Any

from flask import Response

from app.accounts.errors import MAIL_ERRORS
from app.allocations.invoicing import actions, errors, queries
from app.blueprints.allocations import paper_schemas as schemas
from app.core.errors import Throttled
from app.web.access import ORGANISER_MAILS, ORGANISER_READS
from app.web.auth import current_caller
from app.web.blueprint import Blueprint
from app.web.limits import Limit

blp = Blueprint(
    "allocation_papers",
    __name__,
    url_prefix="/api/events",
    description="Invoices and credit notes of blocks, and packs of tickets for the door",
)
OF_BLOCK = "/<eventId>/allocations/<blockId>"
DRAWING = Limit(120)
HEADERS = {"Cache-Control": "private, no-store", "Content-Security-Policy": "sandbox; default-src 'none'"}


@blp.get(
    f"{OF_BLOCK}/invoice.pdf",
    access=ORGANISER_READS,
    query=schemas.PaperQuery,
    content_type="application/pdf",
    limit=DRAWING,
    errors=[errors.NothingToInvoice, errors.InvoiceNotIssued],
)
def invoice_pdf(event_id: str, block_id: str, number: str | None = None) -> Any:
    """Get the invoice of a block as a PDF.

    The first call issues it, under the organiser's next number of the year; from then on it never changes, and every
    download has the same bytes. With `number` it answers that credit note of the block.
    """
    named, data = actions.invoice_pdf(current_caller(), event_id, block_id, number=number)
    return pdf_response(data, named)


@blp.post(
    f"{OF_BLOCK}/invoice/email",
    access=ORGANISER_MAILS,
    body=schemas.MailInvoiceBody,
    returns=schemas.MailedInvoice,
    status=202,
    idempotent=True,
    errors=[errors.NothingToInvoice, errors.InvoiceAddressMissing, Throttled, *MAIL_ERRORS],
)
def mail_invoice(event_id: str, block_id: str, to: str | None = None) -> Any:
    """Send the invoice of a block to its holder, or to another address; it is issued first if need be."""
    return actions.mail_invoice(current_caller(), event_id, block_id, to=to)


@blp.get(
    f"{OF_BLOCK}/invoice",
    access=ORGANISER_READS,
    returns=schemas.InvoiceData,
    errors=[errors.InvoiceNotIssued],
)
def invoice(event_id: str, block_id: str) -> Any:
    """Read the number and the sums of a block's invoice, and its credit notes."""
    return queries.papers(current_caller(), event_id, block_id)


def pdf_response(data: bytes, name: str) -> Response:
    """A PDF that a browser may show, under a name to save it by."""
    named = f'inline; filename="{name}.pdf"'
    return Response(data, content_type="application/pdf", headers={**HEADERS, "Content-Disposition": named})
