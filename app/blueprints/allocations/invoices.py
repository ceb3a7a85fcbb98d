"""Papers of a block: `/api/events/{eventId}/allocations/{blockId}/invoice.pdf` and what belongs to it."""

from typing import Any

from flask import Response

from app.accounts.errors import MAIL_ERRORS
from app.allocations.invoicing import actions, errors, queries
from app.blueprints.allocations import document_schemas as schemas
from app.core.errors import Throttled
from app.web.access import ORGANISER_OR_ANALYST, VERIFIED_ORGANISER
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.rate_limits import Limit

blp = Blueprint(
    "allocation_papers",
    __name__,
    url_prefix="/api/events",
    description="Invoices and credit notes of blocks, and packs of tickets for the door",
)
BLOCK_PATH = "/<eventId>/allocations/<blockId>"
PDF_LIMIT = Limit(120)
PDF_HEADERS = {"Cache-Control": "private, no-store", "Content-Security-Policy": "sandbox; default-src 'none'"}


@blp.get(
    f"{BLOCK_PATH}/invoice.pdf",
    access=ORGANISER_OR_ANALYST,
    query=schemas.PaperQuery,
    content_type="application/pdf",
    limit=PDF_LIMIT,
    errors=[errors.NothingToInvoice, errors.InvoiceNotIssued],
)
def invoice_pdf(event_id: str, block_id: str, number: str | None = None) -> Any:
    """Get the invoice of a block as a PDF.

    The first call issues it, under the organiser's next number of the year; from then on it never changes, and every
    download has the same bytes. With `number` it answers that credit note of the block.
    """
    invoice_number, data = actions.get_or_issue_invoice_pdf(get_current_caller(), event_id, block_id, number=number)
    return build_pdf_response(data, invoice_number)


@blp.post(
    f"{BLOCK_PATH}/invoice/email",
    access=VERIFIED_ORGANISER,
    body=schemas.MailInvoiceBody,
    returns=schemas.MailedInvoice,
    status=202,
    idempotent=True,
    errors=[errors.NothingToInvoice, errors.InvoiceAddressMissing, Throttled, *MAIL_ERRORS],
)
def mail_invoice(event_id: str, block_id: str, to: str | None = None) -> Any:
    """Send the invoice of a block to its holder, or to another address; it is issued first if need be."""
    return actions.enqueue_invoice_email(get_current_caller(), event_id, block_id, to=to)


@blp.get(
    f"{BLOCK_PATH}/invoice",
    access=ORGANISER_OR_ANALYST,
    returns=schemas.InvoiceData,
    errors=[errors.InvoiceNotIssued],
)
def invoice(event_id: str, block_id: str) -> Any:
    """Read the number and the sums of a block's invoice, and its credit notes."""
    return queries.get_invoice(get_current_caller(), event_id, block_id)


def build_pdf_response(data: bytes, name: str) -> Response:
    """A PDF that a browser may show, under a name to save it by."""
    disposition = f'inline; filename="{name}.pdf"'
    return Response(data, content_type="application/pdf", headers={**PDF_HEADERS, "Content-Disposition": disposition})
