"""The stock as a file: written by PostgreSQL, so that a million items need no memory here.

It opens in spreadsheets (UTF-8 with its mark, and nothing that they would take for a formula) and imports back
unchanged: what looks like the beginning of a formula gets a quote in front, which the import takes off.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from app.core.db import copied
from app.core.formulas import escape_sql
from app.core.staleness import as_of_now
from app.inventory.columns import COLUMNS, LINK, PLACES, TEXT

MARK = b"\xef\xbb\xbf"
HEADER = ",".join(column.name for column in COLUMNS)

_SHOWN = ", ".join(
    escape_sql(column.attribute)
    if column.kind in (TEXT, LINK)
    else f"trim_scale({column.attribute})"
    if column.kind in PLACES
    else column.attribute
    for column in COLUMNS
)
STOCK = f"SELECT {_SHOWN} FROM inventory_item WHERE event_id = %(event)s ORDER BY sku_key"


def template() -> bytes:
    """A file with the columns and no rows."""
    return MARK + HEADER.encode() + b"\r\n"


@as_of_now
def stock(event_id: str) -> Iterator[bytes]:
    """All items of an event."""
    return as_csv(STOCK, HEADER.split(","), {"event": event_id})


def as_csv(query: str, header: Sequence[str], parameters: dict[str, Any]) -> Iterator[bytes]:
    """What a query gives, as a file that spreadsheets open. Every cell is quoted, because some of them split a file by
    several separators at once."""
    first = MARK + ",".join(header).encode() + b"\n"
    return chain([first], copied(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)", parameters))
