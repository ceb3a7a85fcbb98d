"""Stock: `/api/events/{eventId}/inventory`."""

from typing import Any

from app.accounts.errors import MAIL_ERRORS, EmailNotVerified
from app.blueprints.inventory import schemas
from app.blueprints.inventory.file_transfer import (
    CSV_TYPE,
    MAX_UPLOAD,
    build_attachment,
    build_private_attachment,
    read_uploaded_file,
)
from app.blueprints.inventory.reports import ReportData, ReportQuery, build_report_response
from app.core.errors import Throttled
from app.inventory import actions, errors, export, item_list, purchase_order_pdf, queries, reminders, stream_source
from app.inventory.variance import SORTS as VARIANCE_SORTS
from app.inventory.variance import list_variances_query, stream_variance_csv
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST, PUBLIC, VERIFIED_ORGANISER
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit
from app.web.streams import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork, build_event_stream

blp = Blueprint("inventory", __name__, url_prefix="/api/events", description="Stock of an event")
STOCK_PATH = "/<eventId>/inventory"
DOWNLOAD_LIMIT = Limit(120)


@blp.get(
    STOCK_PATH,
    access=ORGANISER_OR_ANALYST,
    query=schemas.Filters,
    returns=Listing("items", schemas.ItemRow, item_list.SORTS, "name", returns_page=True),
)
def list_stock(event_id: str, **filters: Any) -> Any:
    """List the stock of an event.

    Filters that have no index (prices, levels, quantities, notes, imageUrl) are looked for among 5,000 items at a
    time: a page may then hold fewer rows than `limit`, and `nextCursor` goes on from there.
    """
    return item_list.list_items(get_current_caller(), event_id, **filters)


@blp.post(
    f"{STOCK_PATH}/items",
    access=ORGANISER,
    body=schemas.NewItem,
    returns=schemas.ItemRow,
    status=201,
    idempotent=True,
    errors=[errors.SkuTaken, errors.InsufficientStock],
)
def create_stock_item(event_id: str, **body: Any) -> Any:
    """Add an item; what is on hand, reserved and damaged is booked as its opening stock."""
    item = actions.create_item(caller=get_current_caller(), event_id=event_id, **body)
    return item, {"ETag": f'"{item["version"]}"'}


@blp.get(f"{STOCK_PATH}/items/<itemId>", access=ORGANISER_OR_ANALYST, returns=schemas.ItemRow, etag=True, sparse=True)
def read_stock_item(event_id: str, item_id: str) -> Any:
    """Read one item."""
    return queries.get_item(get_current_caller(), event_id, item_id)


@blp.patch(
    f"{STOCK_PATH}/items/<itemId>",
    access=ORGANISER,
    body=schemas.ItemChanges,
    returns=schemas.ItemRow,
    etag=True,
    errors=[errors.SkuTaken, errors.InsufficientStock],
)
def change_stock_item(event_id: str, item_id: str, **body: Any) -> Any:
    """Change the fields that are sent; another quantity is booked as a correction."""
    item = actions.update_item(caller=get_current_caller(), event_id=event_id, item_id=item_id, **body)
    return item, {"ETag": f'"{item["version"]}"'}


@blp.get(
    f"{STOCK_PATH}/items/<itemId>/movements",
    access=ORGANISER_OR_ANALYST,
    returns=Listing("movements", schemas.MovementRow, queries.MOVEMENT_SORTS, "-occurredAt"),
)
def list_movements(event_id: str, item_id: str) -> Any:
    """List the book of an item."""
    return queries.list_movements_query(get_current_caller(), event_id, item_id)


@blp.post(
    f"{STOCK_PATH}/items/<itemId>/adjust",
    access=ORGANISER,
    body=schemas.AdjustBody,
    returns=schemas.Adjusted,
    idempotent=True,
    errors=[errors.InsufficientStock, errors.QuantityTooLarge, errors.StaleStock],
)
def adjust_stock_item(event_id: str, item_id: str, **body: Any) -> Any:
    """Change how much there is: by a difference, or to what was counted.

    What happened before a later count changes what that count found missing, and not what there is now.
    """
    return actions.adjust_item(caller=get_current_caller(), event_id=event_id, item_id=item_id, **body)


@blp.get(f"{STOCK_PATH}/export.csv", access=ORGANISER_OR_ANALYST, query=schemas.ExportQuery, content_type="text/csv")
def export_stock(event_id: str, template: bool) -> Any:
    """Get the stock as a file that spreadsheets open and that imports back unchanged; or its columns alone."""
    event = queries.get_event(get_current_caller(), event_id)
    content = export.build_template_csv() if template else export.stream_stock_csv(event.id)
    return build_attachment(content, "stock-template.csv" if template else "stock.csv", CSV_TYPE)


@blp.post(
    f"{STOCK_PATH}/import",
    access=ORGANISER,
    query=schemas.ImportQuery,
    returns=schemas.ImportData,
    idempotent=True,
    uploads=True,
    max_bytes=MAX_UPLOAD,
    errors=[errors.ImportRejected, errors.ImportTooLarge, errors.NotASpreadsheet, EmailNotVerified],
)
def import_stock(event_id: str, **options: Any) -> Any:
    """Import a stock sheet, CSV or XLSX, by SKU.

    Columns are named as the fields of an item, in any case and order. Up to 5,000 rows and 2 MiB are written at once;
    up to 100,000 rows and 20 MiB by a job, whose progress `reports?jobId=` tells. The same bytes change stock once.
    """
    result = actions.import_stock(caller=get_current_caller(), event_id=event_id, data=read_uploaded_file(), **options)
    return result, 202 if "job_id" in result else 200


@blp.get(
    f"{STOCK_PATH}/reports",
    access=ORGANISER_OR_ANALYST,
    query=ReportQuery,
    returns=ReportData,
    may_return_202=True,
    errors=[Throttled],
)
def read_report(event_id: str, **options: Any) -> Any:
    """Report on the stock: what it is worth, what moved, what expires, what to order.

    JSON and CSV are answered at once. A PDF is drawn by a worker: 202 with `jobId`, and with `?jobId=` this path tells
    how far it is and where to fetch it. The same goes for large imports.
    """
    return build_report_response(get_current_caller(), event_id, **options)


@blp.get(
    f"{STOCK_PATH}/reports/files/<token>",
    access=PUBLIC,
    content_type="*/*",
    limit=DOWNLOAD_LIMIT,
    errors=[errors.StockLinkExpired],
)
def read_report_file(event_id: str, token: str) -> Any:
    """Fetch what came of long work through its `downloadUrl`, within five minutes."""
    return build_private_attachment(*queries.get_linked_file(event_id, token))


@blp.get(
    f"{STOCK_PATH}/stream",
    access=ORGANISER_OR_ANALYST.with_verified_email(),
    query=schemas.Filters,
    content_type="text/event-stream",
    errors=[TooManyStreams, TooManyStreamsFromNetwork, StreamsFull],
)
def stream_stock(event_id: str, **filters: object) -> Any:
    """Follow the stock: its items now, then every change as it commits, as server-sent events.

    With `Last-Event-ID` only what was missed since. Events: `snapshot {items, more}`, `changes {changes, items, gone}`,
    `resync`. A connection lasts ten minutes at most; an account may have five, a
    network fifty.
    """
    event = queries.get_event(get_current_caller(), event_id)
    return build_event_stream(stream_source, topic=event.id, query_filters=filters)


@blp.get(f"{STOCK_PATH}/reminder", access=ORGANISER_OR_ANALYST, returns=schemas.ReminderData, etag=True)
def read_reminder(event_id: str) -> Any:
    """Read who is told about the stock, when, and of what."""
    return reminders.get_reminder(get_current_caller(), event_id)


@blp.patch(
    f"{STOCK_PATH}/reminder",
    access=VERIFIED_ORGANISER,
    body=schemas.ReminderChanges,
    returns=schemas.ReminderData,
    etag=True,
)
def change_reminder(event_id: str, **body: Any) -> Any:
    """Change who is told about the stock, when, and of what. Hours are those where the event is."""
    reminder = actions.update_reminder(caller=get_current_caller(), event_id=event_id, **body)
    return reminder, {"ETag": f'"{reminder["version"]}"'}


@blp.post(
    f"{STOCK_PATH}/reminder/trigger",
    access=VERIFIED_ORGANISER,
    returns=schemas.Triggered,
    status=202,
    idempotent=True,
    errors=[Throttled, *MAIL_ERRORS],
)
def trigger_reminder(event_id: str) -> Any:
    """Mail the digest now, twenty times an hour at most."""
    return actions.enqueue_digest(caller=get_current_caller(), event_id=event_id)


@blp.post(
    f"{STOCK_PATH}/reorder/apply",
    access=ORGANISER,
    body=schemas.ReorderBody,
    returns=schemas.Reordered,
    idempotent=True,
)
def apply_reorder(event_id: str, **body: Any) -> Any:
    """Order what has run low, one order for each supplier; what is on order already is not ordered twice."""
    return actions.reorder_items(caller=get_current_caller(), event_id=event_id, **body)


@blp.get(f"{STOCK_PATH}/orders/<orderId>/sheet.pdf", access=ORGANISER_OR_ANALYST, content_type="application/pdf")
def order_pdf(event_id: str, order_id: str) -> Any:
    """Get an order as a sheet for its supplier."""
    return build_attachment(
        purchase_order_pdf.get_order_pdf(get_current_caller(), event_id, order_id), "order.pdf", "application/pdf"
    )


@blp.get(
    f"{STOCK_PATH}/variance",
    access=ORGANISER_OR_ANALYST,
    query=schemas.Period,
    returns=Listing("items", schemas.VarianceRow, VARIANCE_SORTS, "name"),
)
def read_variance(event_id: str, **period: Any) -> Any:
    """Compare what was counted with what the book had expected, item by item."""
    return list_variances_query(get_current_caller(), event_id, **period)


@blp.get(f"{STOCK_PATH}/variance.csv", access=ORGANISER_OR_ANALYST, query=schemas.Period, content_type="text/csv")
def variance_csv(event_id: str, **period: Any) -> Any:
    """Get the same as a file."""
    return build_attachment(stream_variance_csv(get_current_caller(), event_id, **period), "variance.csv", CSV_TYPE)
