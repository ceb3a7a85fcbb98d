"""The stall fees of an event for the organiser: `/api/events/{eventId}/stall-fees`."""

from flask import Response
from werkzeug.datastructures import FileStorage

from app.accounts.permissions import MONEY_READ, MONEY_WRITE
from app.applications import errors, fee_books, queries
from app.applications.fee_books import FeeBooks
from app.blueprints.applications import fee_schemas
from app.money import statements
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("stall_fees", __name__, url_prefix="/api/events", description="The stall fees of an event")
PATH = "/<eventId>/stall-fees"
LISTING = Listing("fees", fee_schemas.StallFeeRow, queries.SORTS, "-createdAt", totals=fee_schemas.FeeTotals)
CSV_LIMIT = Limit(20)
MAX_STATEMENT_BYTES = 2 * 1024 * 1024


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


@blp.post(
    f"{PATH}/statement",
    access=may(MONEY_WRITE).with_verified_email(),
    files=fee_schemas.StatementBody,
    returns=fee_schemas.StatementData,
    max_bytes=MAX_STATEMENT_BYTES,
    limit=CSV_LIMIT,
    errors=[errors.StatementUnreadable],
)
def import_statement(
    event_id: str, file: FileStorage, dry_run: bool, mapping: dict[str, str] | None = None
) -> statements.StatementResult:
    """Record the stall fees and block invoices that a bank statement shows as received: CSV or XLSX, up to 5,000 rows.

    A row pays a fee if its description has the application's reference and its amount is the whole fee. It pays an invoice
    if its description has the number, and its amount is what is due or a part of it. The columns are found by their names,
    or named by `mapping`. Without `dryRun=false` nothing is written. Money that went out is left out, and what came in and
    went out again pays nothing; a statement that is sent again changes nothing. Equal rows for an invoice are payments of
    their own.
    """
    caller = get_current_caller()
    return statements.import_statement(caller, event_id, file.read(), dry_run=dry_run, mapping=mapping)
