"""The stock as CSV, written by PostgreSQL, so that a million items need no memory in this process.

Spreadsheets open the file (UTF-8 with a byte order mark, no formulas) and an import reads it back unchanged: a value
that looks like a formula gets a quote in front, which the import removes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from app.audit.actions import Action
from app.audit.log import record_export
from app.core.db import copy_out
from app.core.replica import as_of_now
from app.core.spreadsheet_cells import escape_sql
from app.inventory.item_fields import DECIMAL_PLACES, ITEM_FIELDS, LINK, TEXT

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEADER = ",".join(field.name for field in ITEM_FIELDS)

_COLUMNS_SQL = ", ".join(
    escape_sql(field.attribute)
    if field.kind in (TEXT, LINK)
    else f"trim_scale({field.attribute})"
    if field.kind in DECIMAL_PLACES
    else field.attribute
    for field in ITEM_FIELDS
)
STOCK_SQL = f"SELECT {_COLUMNS_SQL} FROM inventory_item WHERE event_id = %(event)s ORDER BY sku_key"


def build_template_csv() -> bytes:
    """Return a file with the header and no rows."""
    return BYTE_ORDER_MARK + HEADER.encode() + b"\r\n"


@as_of_now
def stream_stock_csv(event_id: str) -> Iterator[bytes]:
    """Return all items of an event as CSV, and record the export."""
    record_export(Action.STOCK_EXPORTED, event_id=event_id, subject=event_id)
    return stream_query_csv(STOCK_SQL, HEADER.split(","), {"event": event_id})


def stream_query_csv(query: str, header: Sequence[str], parameters: Mapping[str, object]) -> Iterator[bytes]:
    """Return the rows of a query as CSV. Every cell is quoted, because some spreadsheets split at several separators."""
    header_line = BYTE_ORDER_MARK + ",".join(header).encode() + b"\n"
    return chain([header_line], copy_out(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)", parameters))
