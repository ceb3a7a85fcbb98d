"""Documents of a block: `/api/events/{eventId}/allocations/{blockId}/invoice.pdf`, reports and ticket packs."""

from typing import Any, Unpack

from flask import Response

from app.accounts.errors import MAIL_ERRORS
from app.accounts.permissions import GUESTS_READ, GUESTS_WRITE, MONEY_READ, MONEY_WRITE
from app.allocations import queries, ticket_packs
from app.allocations.errors import (
    BlockInvoiced,
    EventNotCancelled,
    InsufficientSlots,
    InvoiceAddressMissing,
    InvoiceCredited,
    InvoiceNotIssued,
    InvoiceSettled,
    MoneyPaidBack,
    NothingToInvoice,
    PackNotReady,
    PaymentTakenBack,
)
from app.allocations.guest_report import GuestReport, enqueue_guest_report_email, get_guest_report
from app.allocations.invoice_buyers import BuyerChanges, find_previous_buyer, update_buyer
from app.allocations.invoice_payments import receive_invoice_payment
from app.allocations.invoices import (
    EnqueuedInvoice,
    IssuedInvoice,
    credit_invoice,
    enqueue_invoice_email,
    get_invoice,
    get_or_issue_invoice_pdf,
    preview_invoice,
)
from app.allocations.payment_take_backs import take_back_payment
from app.blueprints.allocations import document_schemas
from app.blueprints.allocations.response_schemas import AllocationRow, ReportData
from app.blueprints.allocations.serializers import (
    JsonObject,
    build_report_pdf_response,
    serialize_invoice_preview,
    serialize_pack,
    wants_pdf,
)
from app.core.errors import StaleVersion, Throttled
from app.invitations.errors import EventClosed
from app.invoicing.invoice_pdf import draw_invoice_pdf
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.buyer_fields import BuyerBody
from app.web.file_responses import build_pdf_response
from app.web.rate_limits import Limit

blp = Blueprint(
    "allocation_papers",
    __name__,
    url_prefix="/api/events",
    description="Invoices, credit notes and reports of blocks, and ticket packs",
)
BLOCK_PATH = "/<eventId>/allocations/<blockId>"
PDF_LIMIT = Limit(120)


@blp.get(
    f"{BLOCK_PATH}/invoice.pdf",
    access=may(MONEY_READ),
    query=document_schemas.PaperQuery,
    content_type="application/pdf",
    limit=PDF_LIMIT,
    errors=[NothingToInvoice, InvoiceNotIssued],
)
def invoice_pdf(event_id: str, block_id: str, number: str | None = None) -> Response:
    """Get the invoice of a block as a PDF.

    The first call issues it under the organiser's next number of the year. It never changes, and every download has the
    same bytes. With `number` the response is that credit note of the block.
    """
    invoice_number, data = get_or_issue_invoice_pdf(get_current_caller(), event_id, block_id, number=number)
    return build_pdf_response(data, invoice_number)


@blp.get(
    f"{BLOCK_PATH}/invoice/preview",
    access=may(MONEY_READ),
    query=document_schemas.PreviewQuery,
    returns=document_schemas.InvoicePreview,
    other_content_type="application/pdf",
    limit=PDF_LIMIT,
    errors=[NothingToInvoice, BlockInvoiced],
)
def read_invoice_preview(event_id: str, block_id: str, format: str | None = None) -> JsonObject | Response:
    """Read what the invoice of a block would say now. Nothing is issued, and no number is taken.

    As a PDF that is marked as a preview with `format=pdf` or `Accept: application/pdf`.
    """
    caller = get_current_caller()
    preview = preview_invoice(caller, event_id, block_id)
    if wants_pdf(format):
        return build_pdf_response(draw_invoice_pdf(preview.document), f"preview-{block_id}")
    block = queries.get_block(caller, event_id, block_id)
    return serialize_invoice_preview(preview, find_previous_buyer(caller, block))


@blp.patch(
    f"{BLOCK_PATH}/invoice/buyer",
    access=may(MONEY_WRITE),
    body=BuyerBody,
    returns=AllocationRow,
    etag=True,
    errors=[BlockInvoiced],
)
def change_buyer(
    event_id: str, block_id: str, expected_version: int | None, **changes: Unpack[BuyerChanges]
) -> tuple[queries.BlockRow, dict[str, str]]:
    """Change who the invoice of a block is for: name, postal address, VAT registration number, purchase order.

    Fields that are left out stay. Once the invoice is issued, they no longer change.
    """
    update_buyer(get_current_caller(), event_id, block_id, expected_version=expected_version, **changes)
    block = queries.get_block(get_current_caller(), event_id, block_id)
    return block, {"ETag": f'"{block["version"]}"'}


@blp.post(
    f"{BLOCK_PATH}/invoice/email",
    access=may(MONEY_WRITE).with_verified_email(),
    body=document_schemas.MailInvoiceBody,
    returns=document_schemas.MailedInvoice,
    status=202,
    idempotent=True,
    errors=[NothingToInvoice, InvoiceAddressMissing, StaleVersion, Throttled, *MAIL_ERRORS],
)
def mail_invoice(
    event_id: str, block_id: str, to: str | None = None, preview_digest: str | None = None
) -> EnqueuedInvoice:
    """Send the invoice of a block to its holder, or to another address. It is issued if it was not before.

    With `previewDigest` it is issued only if it says what that preview said.
    """
    return enqueue_invoice_email(get_current_caller(), event_id, block_id, to=to, expected_digest=preview_digest)


@blp.get(
    f"{BLOCK_PATH}/invoice",
    access=may(MONEY_READ),
    returns=document_schemas.InvoiceData,
    errors=[InvoiceNotIssued],
)
def invoice(event_id: str, block_id: str) -> IssuedInvoice:
    """Read the number and the amounts of a block's invoice, its credit notes and its payments."""
    return get_invoice(get_current_caller(), event_id, block_id)


@blp.post(
    f"{BLOCK_PATH}/invoice/received",
    access=may(MONEY_WRITE).with_verified_email(),
    body=document_schemas.ReceivedInvoiceBody,
    returns=document_schemas.InvoiceData,
    idempotent=True,
    errors=[InvoiceNotIssued, InvoiceSettled],
)
def receive_invoice(event_id: str, block_id: str, **transfer: Any) -> IssuedInvoice:
    """Record a bank transfer that paid the invoice of a block: all that is due, or less with `part`.

    Due is the invoice less its credit notes and the payments until then. A payment is booked in the ledger, once. The same
    amount, reference and day again change nothing when all is paid, and are refused while something is due. The holder of
    the block gets a mail for each payment.
    """
    receive_invoice_payment(get_current_caller(), event_id, block_id, **transfer)
    return get_invoice(get_current_caller(), event_id, block_id)


@blp.post(
    f"{BLOCK_PATH}/invoice/credit",
    access=may(MONEY_WRITE).with_verified_email(),
    returns=document_schemas.InvoiceData,
    errors=[InvoiceNotIssued, EventNotCancelled],
)
def credit_block_invoice(event_id: str, block_id: str) -> IssuedInvoice:
    """Credit all that the invoice of a block of a cancelled event still charges.

    One credit note is issued and mailed to the holder; the places stay as they are. What was paid is owed back. Where
    nothing is charged any more it changes nothing.
    """
    credit_invoice(get_current_caller(), event_id, block_id)
    return get_invoice(get_current_caller(), event_id, block_id)


@blp.post(
    f"{BLOCK_PATH}/invoice/received/take-back",
    access=may(MONEY_WRITE).with_verified_email(),
    body=document_schemas.TakeBackPaymentBody,
    returns=document_schemas.InvoiceData,
    idempotent=True,
    errors=[InvoiceNotIssued, PaymentTakenBack, MoneyPaidBack, InvoiceCredited],
)
def take_back_invoice_payment(event_id: str, block_id: str, number: int, reason: str) -> IssuedInvoice:
    """Take back a payment of a block's invoice that was recorded wrongly.

    The same amount is booked the other way in the ledger, today, and is due again. The payment stays in the list, with who
    took it back, when and why. The holder of the block gets a mail, but not about money that was paid back.
    """
    take_back_payment(get_current_caller(), event_id, block_id, number=number, reason=reason)
    return get_invoice(get_current_caller(), event_id, block_id)


@blp.get(
    f"{BLOCK_PATH}/report",
    access=may(GUESTS_READ),
    query=document_schemas.ReportQuery,
    returns=ReportData,
    other_content_type="application/pdf",
    limit=PDF_LIMIT,
)
def read_guest_report(event_id: str, block_id: str, format: str | None = None) -> GuestReport | Response:
    """Read how a block was used, and by whom. As a PDF with `format=pdf` or `Accept: application/pdf`."""
    report = get_guest_report(get_current_caller(), event_id, block_id)
    return build_report_pdf_response(report) if wants_pdf(format) else report


@blp.post(
    f"{BLOCK_PATH}/report/email",
    access=may(GUESTS_WRITE).with_verified_email(),
    body=document_schemas.MailReportBody,
    returns=document_schemas.MailedReport,
    status=202,
    idempotent=True,
    errors=[InvoiceAddressMissing, Throttled, *MAIL_ERRORS],
)
def mail_guest_report(event_id: str, block_id: str, to: str | None = None) -> JsonObject:
    """Send the report of a block to its holder, or to another address, as a PDF."""
    return {"to": enqueue_guest_report_email(get_current_caller(), event_id, block_id, to=to)}


@blp.post(
    f"{BLOCK_PATH}/packs",
    access=may(GUESTS_WRITE),
    body=document_schemas.PackBody,
    returns=document_schemas.PackData,
    status=202,
    idempotent=True,
    errors=[InsufficientSlots, EventClosed],
)
def make_pack(event_id: str, block_id: str, count: int) -> JsonObject:
    """Create a pack of unnamed tickets to print.

    `count` free places of the block become tickets without a name, all or none. A worker draws them; `url` is one PDF,
    eight tickets to a sheet. To print the same tickets again, download that PDF again.
    """
    pack = ticket_packs.create_pack(get_current_caller(), event_id, block_id, count=count)
    return serialize_pack(pack, event_id, block_id)


@blp.get(f"{BLOCK_PATH}/packs", access=may(GUESTS_READ), returns=document_schemas.PacksData)
def list_packs(event_id: str, block_id: str) -> JsonObject:
    """List the ticket packs of a block, the newest first."""
    packs = ticket_packs.list_packs(get_current_caller(), event_id, block_id)
    return {"packs": [serialize_pack(pack, event_id, block_id) for pack in packs]}


@blp.get(f"{BLOCK_PATH}/packs/<packId>", access=may(GUESTS_READ), returns=document_schemas.PackData)
def read_pack(event_id: str, block_id: str, pack_id: str) -> JsonObject:
    """Read the progress of a pack."""
    pack = ticket_packs.get_pack(get_current_caller(), event_id, block_id, pack_id)
    return serialize_pack(pack, event_id, block_id)


@blp.get(
    f"{BLOCK_PATH}/packs/<packId>/tickets.pdf",
    access=may(GUESTS_WRITE),
    content_type="application/pdf",
    limit=PDF_LIMIT,
    errors=[PackNotReady],
)
def print_pack(event_id: str, block_id: str, pack_id: str) -> Response:
    """Get the tickets of a pack as one PDF; every download has the same bytes."""
    data = ticket_packs.get_pack_pdf(get_current_caller(), event_id, block_id, pack_id)
    return build_pdf_response(data, f"tickets-{pack_id}")
