"""Stock: `/api/events/{eventId}/inventory`."""

from typing import Any, Unpack

from flask import Response

from app.accounts.errors import MAIL_ERRORS, EmailNotVerified
from app.accounts.permissions import STOCK_READ, STOCK_REMINDERS, STOCK_WRITE
from app.blueprints.inventory import schemas
from app.blueprints.inventory.file_transfer import CSV_TYPE, MAX_UPLOAD, read_uploaded_file
from app.blueprints.inventory.reports import ReportData, ReportQuery, ReportResponse, build_report_response
from app.core.errors import StaleVersion, Throttled
from app.core.paging import Page
from app.events.queries import ListQuery
from app.inventory import (
    actions,
    errors,
    export,
    item_list,
    purchase_order_pdf,
    purchase_order_queries,
    queries,
    reminders,
    stream_queries,
)
from app.inventory.actions.imports import ImportJson
from app.inventory.actions.purchase_orders import Reorder
from app.inventory.item_fields import AdjustedItem, ItemFilters, ItemRow, ItemValues
from app.inventory.purchase_order_queries import OrderDetails
from app.inventory.reminders import ReminderData
from app.inventory.serializers import Row
from app.inventory.variance import SORTS as VARIANCE_SORTS
from app.inventory.variance import list_variances_query, stream_variance_csv
from app.web.access import PUBLIC, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.file_responses import build_attachment, build_private_attachment
from app.web.paging import Listing
from app.web.rate_limits import Limit
from app.web.streams import StreamsFull, TooManyStreams, TooManyStreamsFromNetwork, build_event_stream

blp = Blueprint("inventory", __name__, url_prefix="/api/events", description="Stock of an event")
STOCK_PATH = "/<eventId>/inventory"
DOWNLOAD_LIMIT = Limit(120)


@blp.get(
    STOCK_PATH,
    access=may(STOCK_READ),
    query=schemas.Filters,
    returns=Listing("items", schemas.ItemRow, item_list.SORTS, "name", returns_page=True),
)
def list_stock(event_id: str, **filters: Any) -> Page:
    """List the stock of an event.

    Filters without an index (prices, levels, quantities, notes, imageUrl) scan 5,000 items at a time: a page may then
    have fewer rows than `limit`, and `nextCursor` continues from there.
    """
    return item_list.list_items(get_current_caller(), event_id, **filters)


@blp.post(
    f"{STOCK_PATH}/items",
    access=may(STOCK_WRITE),
    body=schemas.NewItem,
    returns=schemas.ItemRow,
    status=201,
    idempotent=True,
    errors=[errors.SkuTaken, errors.InsufficientStock],
)
def create_stock_item(event_id: str, **body: Unpack[ItemValues]) -> tuple[ItemRow, dict[str, str]]:
    """Add an item; its quantities on hand, reserved and damaged are recorded as opening stock."""
    item = actions.create_item(caller=get_current_caller(), event_id=event_id, **body)
    return item, {"ETag": f'"{item["version"]}"'}


@blp.get(f"{STOCK_PATH}/items/<itemId>", access=may(STOCK_READ), returns=schemas.ItemRow, etag=True, sparse=True)
def read_stock_item(event_id: str, item_id: str) -> Row:
    """Read one item."""
    return queries.get_item(get_current_caller(), event_id, item_id)


@blp.patch(
    f"{STOCK_PATH}/items/<itemId>",
    access=may(STOCK_WRITE),
    body=schemas.ItemChanges,
    returns=schemas.ItemRow,
    etag=True,
    errors=[errors.SkuTaken, errors.InsufficientStock, errors.ItemArchived],
)
def change_stock_item(event_id: str, item_id: str, **body: Any) -> tuple[ItemRow, dict[str, str]]:
    """Change the fields that are sent; a changed quantity is recorded as a correction.

    `archived` archives the item or restores it. An archived item is not low and cannot be changed until it is restored.
    """
    item = actions.update_item(caller=get_current_caller(), event_id=event_id, item_id=item_id, **body)
    return item, {"ETag": f'"{item["version"]}"'}


@blp.get(
    f"{STOCK_PATH}/items/<itemId>/movements",
    access=may(STOCK_READ),
    returns=Listing("movements", schemas.MovementRow, queries.MOVEMENT_SORTS, "-occurredAt"),
)
def list_movements(event_id: str, item_id: str) -> ListQuery:
    """List the movements of an item."""
    return queries.list_movements_query(get_current_caller(), event_id, item_id)


@blp.post(
    f"{STOCK_PATH}/items/<itemId>/adjust",
    access=may(STOCK_WRITE),
    body=schemas.AdjustBody,
    returns=schemas.Adjusted,
    idempotent=True,
    errors=[errors.InsufficientStock, errors.QuantityTooLarge, errors.StaleStock, errors.ItemArchived, StaleVersion],
)
def adjust_stock_item(event_id: str, item_id: str, **body: Any) -> AdjustedItem:
    """Change a quantity by a difference, or to a counted quantity.

    A movement from before a count changes the difference that the count found, not the present quantity.
    """
    return actions.adjust_item(caller=get_current_caller(), event_id=event_id, item_id=item_id, **body)


@blp.get(f"{STOCK_PATH}/export.csv", access=may(STOCK_READ), query=schemas.ExportQuery, content_type="text/csv")
def export_stock(event_id: str, template: bool) -> Response:
    """Get the stock as CSV, which an import reads back unchanged; or the header alone."""
    event = queries.get_event(get_current_caller(), event_id)
    content = export.build_template_csv() if template else export.stream_stock_csv(event.id)
    return build_attachment(content, "stock-template.csv" if template else "stock.csv", CSV_TYPE)


@blp.post(
    f"{STOCK_PATH}/import",
    access=may(STOCK_WRITE),
    query=schemas.ImportQuery,
    returns=schemas.ImportData,
    idempotent=True,
    uploads=True,
    other_status=202,
    max_bytes=MAX_UPLOAD,
    errors=[errors.ImportRejected, errors.ImportTooLarge, errors.NotASpreadsheet, EmailNotVerified],
)
def import_stock(event_id: str, **options: Any) -> tuple[ImportJson, int]:
    """Import a stock sheet, CSV or XLSX, by SKU.

    Columns are named as the fields of an item, in any case and order, or as `mapping` says. Up to 5,000 rows and 2 MiB are written immediately;
    up to 100,000 rows and 20 MiB by a job, whose progress `reports?jobId=` returns. The same file is imported once.
    """
    result = actions.import_stock(caller=get_current_caller(), event_id=event_id, data=read_uploaded_file(), **options)
    return result, 202 if "job_id" in result else 200


@blp.get(
    f"{STOCK_PATH}/reports",
    access=may(STOCK_READ),
    query=ReportQuery,
    returns=ReportData,
    other_status=202,
    other_content_type="text/csv",
    errors=[Throttled],
)
def read_report(event_id: str, **options: Any) -> ReportResponse:
    """Report on the stock: its value, its movements, expiring items, items to order.

    JSON and CSV are returned immediately. A background job draws a PDF: 202 with `jobId`, and with `?jobId=` this path
    returns its progress and where to fetch the file. The same applies to large imports.
    """
    return build_report_response(get_current_caller(), event_id, **options)


@blp.get(
    f"{STOCK_PATH}/reports/files/<token>",
    access=PUBLIC,
    content_type="*/*",
    limit=DOWNLOAD_LIMIT,
    errors=[errors.StockLinkExpired],
)
def read_report_file(event_id: str, token: str) -> Response:
    """Fetch the file of a background job by its `downloadUrl`, valid for five minutes."""
    return build_private_attachment(*queries.get_linked_file(event_id, token))


@blp.get(
    f"{STOCK_PATH}/stream",
    access=may(STOCK_READ).with_verified_email(),
    query=schemas.Filters,
    content_type="text/event-stream",
    errors=[TooManyStreams, TooManyStreamsFromNetwork, StreamsFull],
)
def stream_stock(event_id: str, **filters: Unpack[ItemFilters]) -> Response:
    """Follow the stock: its items now, then every change as it commits, as server-sent events.

    With `Last-Event-ID` only the changes since then. Events: `snapshot {items, more}`, `changes {changes, items, gone}`,
    `resync`. A connection lasts ten minutes at most; an account may have five, a
    network fifty.
    """
    event = queries.get_event(get_current_caller(), event_id)
    return build_event_stream(stream_queries, topic=event.id, query_filters=filters)


@blp.get(f"{STOCK_PATH}/reminder", access=may(STOCK_READ), returns=schemas.ReminderData, etag=True)
def read_reminder(event_id: str) -> ReminderData:
    """Read the stock reminder of an event."""
    return reminders.get_reminder(get_current_caller(), event_id)


@blp.patch(
    f"{STOCK_PATH}/reminder",
    access=may(STOCK_REMINDERS).with_verified_email(),
    body=schemas.ReminderChanges,
    returns=schemas.ReminderData,
    etag=True,
)
def change_reminder(event_id: str, **body: Any) -> tuple[ReminderData, dict[str, str]]:
    """Change the stock reminder of an event. Hours are in the time zone of the event."""
    reminder = actions.update_reminder(caller=get_current_caller(), event_id=event_id, **body)
    return reminder, {"ETag": f'"{reminder["version"]}"'}


@blp.post(
    f"{STOCK_PATH}/reminder/trigger",
    access=may(STOCK_REMINDERS).with_verified_email(),
    returns=schemas.Triggered,
    status=202,
    idempotent=True,
    errors=[Throttled, *MAIL_ERRORS],
)
def trigger_reminder(event_id: str) -> dict[str, object]:
    """Send the digest now, at most twenty times an hour."""
    recipients = actions.enqueue_digest(caller=get_current_caller(), event_id=event_id)
    return {"recipients": recipients, "queued": len(recipients)}


@blp.post(
    f"{STOCK_PATH}/reorder/apply",
    access=may(STOCK_WRITE),
    body=schemas.ReorderBody,
    returns=schemas.Reordered,
    idempotent=True,
)
def apply_reorder(event_id: str, **body: Any) -> Reorder:
    """Order the low items, one order for each supplier. Stock on order counts as available."""
    return actions.reorder_items(caller=get_current_caller(), event_id=event_id, **body)


@blp.get(
    f"{STOCK_PATH}/orders",
    access=may(STOCK_READ),
    returns=Listing("orders", schemas.OrderRow, purchase_order_queries.ORDER_SORTS, "-createdAt"),
)
def list_orders(event_id: str) -> ListQuery:
    """List the purchase orders that reorders have made."""
    return purchase_order_queries.list_orders_query(get_current_caller(), event_id)


@blp.get(f"{STOCK_PATH}/orders/<orderId>", access=may(STOCK_READ), returns=schemas.OrderDetails)
def read_order(event_id: str, order_id: str) -> OrderDetails:
    """Get a purchase order with its lines."""
    return purchase_order_queries.get_order_details(get_current_caller(), event_id, order_id)


@blp.post(
    f"{STOCK_PATH}/orders/<orderId>/receive",
    access=may(STOCK_WRITE),
    body=schemas.ArrivedBody,
    returns=schemas.OrderDetails,
    idempotent=True,
    errors=[errors.OrderClosed, StaleVersion],
)
def receive_order(event_id: str, order_id: str, **body: Any) -> OrderDetails:
    """Record what has arrived of an open order, and close it.

    What has not arrived is not on order any more. With `restComesLater` it stays on order, and the order stays open
    while anything is missing: send `expected` as well, so that a second request is 412. An item that `lines` leaves out
    has not arrived.
    """
    caller = get_current_caller()
    actions.receive_order(caller, event_id, order_id, **body)
    return purchase_order_queries.get_order_details(caller, event_id, order_id)


@blp.post(
    f"{STOCK_PATH}/orders/<orderId>/cancel",
    access=may(STOCK_WRITE),
    returns=schemas.OrderDetails,
    idempotent=True,
    errors=[errors.OrderClosed],
)
def cancel_order(event_id: str, order_id: str) -> OrderDetails:
    """Close an open order of which nothing more will arrive; what has not arrived is not on order any more."""
    caller = get_current_caller()
    actions.cancel_order(caller, event_id, order_id)
    return purchase_order_queries.get_order_details(caller, event_id, order_id)


@blp.get(f"{STOCK_PATH}/orders/<orderId>/sheet.pdf", access=may(STOCK_READ), content_type="application/pdf")
def order_pdf(event_id: str, order_id: str) -> Response:
    """Get a purchase order as a PDF."""
    return build_attachment(
        purchase_order_pdf.get_order_pdf(get_current_caller(), event_id, order_id), "order.pdf", "application/pdf"
    )


@blp.get(
    f"{STOCK_PATH}/variance",
    access=may(STOCK_READ),
    query=schemas.Period,
    returns=Listing("items", schemas.VarianceRow, VARIANCE_SORTS, "name"),
)
def read_variance(event_id: str, **period: Any) -> ListQuery:
    """List the differences between counted and expected quantities, item by item."""
    return list_variances_query(get_current_caller(), event_id, **period)


@blp.get(f"{STOCK_PATH}/variance.csv", access=may(STOCK_READ), query=schemas.Period, content_type="text/csv")
def variance_csv(event_id: str, **period: Any) -> Response:
    """Get the differences as CSV."""
    return build_attachment(stream_variance_csv(get_current_caller(), event_id, **period), "variance.csv", CSV_TYPE)
