"""The stall fees of an event for the organiser: `/api/events/{eventId}/stall-fees`."""

from flask import Response

from app.accounts.permissions import MONEY_READ
from app.applications import fee_books, queries
from app.applications.fee_books import FeeBooks
from app.blueprints.applications import fee_schemas
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("stall_fees", __name__, url_prefix="/api/events", description="The stall fees of an event")
PATH = "/<eventId>/stall-fees"
LISTING = Listing("fees", fee_schemas.StallFeeRow, queries.SORTS, "-createdAt", totals=fee_schemas.FeeTotals)
CSV_LIMIT = Limit(20)


@blp.get(PATH, access=may(MONEY_READ), query=fee_schemas.FeeQuery, returns=LISTING)
def list_fees(event_id: str, status: str | None = None) -> tuple[queries.ListQuery, FeeBooks]:
    """List the stall fees of an event, with the sums of all.

    What is due is what is paid by the rail, received by transfer, waived, refunded and open together. Of a fee with a
    partial refund the rest counts as paid or received.
    """
    caller = get_current_caller()
    return fee_books.list_fees_query(caller, event_id, status=status), fee_books.load_fee_books(caller, event_id)


@blp.get(f"{PATH}.csv", access=may(MONEY_READ), content_type="text/csv", limit=CSV_LIMIT)
def export_fees(event_id: str) -> Response:
    """Get the stall fees of an event as CSV. The export is an entry of the audit trail."""
    content = fee_books.stream_fees_csv(get_current_caller(), event_id)
    headers = {"Content-Disposition": "attachment; filename=stall-fees.csv", "Cache-Control": "private, no-store"}
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)
