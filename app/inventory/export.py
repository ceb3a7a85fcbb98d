"""The stock as CSV, written by PostgreSQL, so that a million items need no memory in this process.

Spreadsheets open the file (UTF-8 with a byte order mark, no formulas) and an import reads it back unchanged: a value
that looks like a formula gets a quote in front, which the import removes.
"""

from collections.abc import Iterator

from app.audit.actions import Action
from app.audit.log import record_export
from app.core.csv_export import BYTE_ORDER_MARK, stream_query_csv
from app.core.replica import as_of_now
from app.core.spreadsheet_cells import escape_sql
from app.inventory.item_fields import DECIMAL_PLACES, ITEM_FIELDS, LINK, TEXT

HEADER = ",".join(field.name for field in ITEM_FIELDS)

_COLUMNS_SQL = ", ".join(
    escape_sql(field.attribute)
    if field.kind in (TEXT, LINK)
    else f"trim_scale({field.attribute})"
    if field.kind in DECIMAL_PLACES
    else field.attribute
    for field in ITEM_FIELDS
)
STOCK_SQL = (
    f"SELECT {_COLUMNS_SQL} FROM inventory_item WHERE event_id = %(event)s AND archived_at IS NULL ORDER BY sku_key"
)


def build_template_csv() -> bytes:
    """Return a file with the header and no rows."""
    return BYTE_ORDER_MARK + HEADER.encode() + b"\r\n"


@as_of_now
def stream_stock_csv(event_id: str) -> Iterator[bytes]:
    """Return the items of an event as CSV, without the archived ones, and record the export."""
    record_export(Action.STOCK_EXPORTED, event_id=event_id, subject=event_id)
    return stream_query_csv(STOCK_SQL, HEADER.split(","), {"event": event_id})
