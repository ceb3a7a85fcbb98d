"""The stock as a file: written by PostgreSQL, so that a million items need no memory here.

It opens in spreadsheets (UTF-8 with its mark, and nothing that they would take for a formula) and imports back
unchanged: what looks like the beginning of a formula gets a quote in front, which the import takes off.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from app.core.db import copy_out
from app.core.formulas import escape_sql
from app.core.replica_routing import as_of_now
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
    """A file with the columns and no rows."""
    return BYTE_ORDER_MARK + HEADER.encode() + b"\r\n"


@as_of_now
def stream_stock_csv(event_id: str) -> Iterator[bytes]:
    """All items of an event."""
    return stream_query_csv(STOCK_SQL, HEADER.split(","), {"event": event_id})


def stream_query_csv(query: str, header: Sequence[str], parameters: dict[str, object]) -> Iterator[bytes]:
    """What a query gives, as a file that spreadsheets open. Every cell is quoted, because some of them split a file by
    several separators at once."""
    header_line = BYTE_ORDER_MARK + ",".join(header).encode() + b"\n"
    return chain([header_line], copy_out(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)", parameters))
