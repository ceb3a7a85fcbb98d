"""The money of an event, `/api/events/{eventId}/money`, and the accountant's exports of an organisation."""

from datetime import date

from flask import Response

from app.accounts.permissions import MONEY_READ
from app.blueprints.money import schemas
from app.money.event_money import EventMoney, load_event_money
from app.money.journal import stream_journal_csv
from app.money.periods import build_period
from app.money.vat import VatSummary, load_vat_summary
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.rate_limits import Limit

blp = Blueprint("money", __name__, url_prefix="/api", description="The money of events and organisations")
CSV_LIMIT = Limit(20)


@blp.get("/events/<eventId>/money", access=may(MONEY_READ), returns=schemas.EventMoneyData)
def read_event_money(event_id: str) -> EventMoney:
    """Read the money of an event: tickets sold elsewhere, invoices of blocks, stall fees and refunds.

    `reconciliation` has each booked figure beside the ledger's. Tickets sold elsewhere are not booked, and payouts of
    merchants are not booked to an event.
    """
    return load_event_money(get_current_caller(), event_id)


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
