"""The money of an event, `/api/events/{eventId}/money`, and the money and the accountant's exports of an organisation."""

from collections.abc import Sequence
from datetime import date

from flask import Response

from app.accounts.permissions import MONEY_READ
from app.blueprints.money import schemas
from app.core.errors import NotFound, Throttled
from app.money.documents import SORTS, ListQuery, get_document_pdf, list_documents_query, request_archive
from app.money.event_money import EventMoney, load_event_money
from app.money.journal import stream_journal_csv
from app.money.organisation_money import MoneyOfEvent, load_organisation_money
from app.money.periods import build_period
from app.money.settlement import request_settlement
from app.money.vat import VatSummary, load_vat_summary
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.file_responses import build_pdf_response
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("money", __name__, url_prefix="/api", description="The money of events and organisations")
CSV_LIMIT = Limit(20)
PDF_LIMIT = Limit(120)


@blp.get("/events/<eventId>/money", access=may(MONEY_READ), returns=schemas.EventMoneyData)
def read_event_money(event_id: str) -> EventMoney:
    """Read the money of an event: tickets sold elsewhere, invoices of blocks, stall fees and refunds.

    `reconciliation` has each booked figure beside the ledger's. Tickets sold elsewhere are not booked, and payouts of
    merchants are not booked to an event.
    """
    return load_event_money(get_current_caller(), event_id)


@blp.get(
    "/events/<eventId>/money/documents",
    access=may(MONEY_READ),
    query=schemas.DocumentFilters,
    returns=Listing("documents", schemas.MoneyDocumentRow, SORTS, "-issuedAt"),
)
def list_documents(event_id: str, state: str | None = None) -> ListQuery:
    """List the invoices and credit notes of an event's stall fees and blocks, with what is open of each, or owed back."""
    return list_documents_query(get_current_caller(), event_id, state=state)


@blp.get(
    "/events/<eventId>/money/documents/<documentId>",
    access=may(MONEY_READ),
    content_type="application/pdf",
    limit=PDF_LIMIT,
)
def read_money_document(event_id: str, document_id: str) -> Response:
    """Get an invoice or credit note of the list as a PDF. The download is an entry of the audit trail."""
    number, pdf = get_document_pdf(get_current_caller(), event_id, document_id)
    return build_pdf_response(pdf, number)


@blp.post(
    "/events/<eventId>/money/settlement",
    access=may(MONEY_READ),
    returns=schemas.RequestedFileData,
    status=202,
    errors=[Throttled],
)
def make_settlement(event_id: str) -> dict[str, str]:
    """Have the settlement report of an event drawn as a PDF.

    It is a file of the organisation: see `GET /api/organisations/me/files`, for which a key needs the scope `events:read`.
    While one is being made, it is that one.
    """
    return {"file_id": request_settlement(get_current_caller(), event_id)}


@blp.get(
    "/organisations/me/money", access=may(MONEY_READ, whole_organisation=True), returns=schemas.OrganisationMoneyData
)
def read_organisation_money() -> dict[str, Sequence[MoneyOfEvent]]:
    """Read the money of the last 200 events, the newest first, all of the same moment."""
    return {"events": load_organisation_money(get_current_caller())}


@blp.post(
    "/organisations/me/money/invoices",
    access=may(MONEY_READ, whole_organisation=True),
    body=schemas.ArchiveBody,
    returns=schemas.RequestedFileData,
    status=202,
    errors=[NotFound, Throttled],
)
def make_archive(since: date | None, until: date | None, event_id: str | None) -> dict[str, str]:
    """Have the invoices and credit notes of a period drawn into one ZIP: at most 1,000, each named by its number.

    It is a file of the organisation, as the settlement report.
    """
    caller = get_current_caller()
    return {"file_id": request_archive(caller, caller.organisation_id, build_period(since, until), event_id)}


@blp.get(
    "/organisations/me/journal.csv",
    access=may(MONEY_READ, whole_organisation=True),
    query=schemas.PeriodQuery,
    content_type="text/csv",
    limit=CSV_LIMIT,
)
def export_journal(since: date | None, until: date | None, event_id: str | None) -> Response:
    """Get the journal of the organisation as CSV, for an accountant.

    Each invoice, credit note, payment and refund is an entry that balances. The export is an entry of the audit trail.
    """
    period = build_period(since, until)
    content = stream_journal_csv(get_current_caller().organisation_id, *period, event_id)
    headers = {"Content-Disposition": "attachment; filename=journal.csv", "Cache-Control": "private, no-store"}
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)


@blp.get(
    "/organisations/me/vat",
    access=may(MONEY_READ, whole_organisation=True),
    query=schemas.PeriodQuery,
    returns=schemas.VatSummaryData,
)
def read_vat(since: date | None, until: date | None, event_id: str | None) -> VatSummary:
    """Read the VAT of the organisation: net, VAT and gross by rate, credit notes apart.

    It counts the tax invoices and tax credit notes of the period by the day of their issue.
    """
    return load_vat_summary(get_current_caller().organisation_id, *build_period(since, until), event_id)
