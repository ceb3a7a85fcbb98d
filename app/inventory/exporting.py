"""The stock as a file: written by PostgreSQL, so that a million items need no memory here.

It opens in spreadsheets (UTF-8 with its mark, and nothing that they would take for a formula) and imports back
unchanged: a text that begins like a formula gets a quote in front, which the import takes off.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from app.core.db import copied
from app.core.staleness import as_of_now
from app.inventory.columns import COLUMNS, LINK, PLACES, TEXT

MARK = b"\xef\xbb\xbf"
HEADER = ",".join(each.name for each in COLUMNS)
# What spreadsheets read as the beginning of a formula, and the quote itself, by their numbers in Unicode.
SUSPICIOUS = ", ".join(str(ord(each)) for each in "=+-@\t\r＝＋－＠'")
DANGEROUS = "^''*[=+@\t\r＝＋－＠-]"


def defused(column: str) -> str:
    """SQL for a text that no spreadsheet takes for a formula. Looking at the first sign is enough for nearly all."""
    return (
        f"CASE WHEN ascii({column}) IN ({SUSPICIOUS}) AND {column} ~ '{DANGEROUS}' THEN '''' || {column} "
        f"ELSE {column} END"
    )


_SHOWN = ", ".join(
    defused(each.attribute) if each.kind in (TEXT, LINK)
    else f"trim_scale({each.attribute})" if each.kind in PLACES
    else each.attribute
    for each in COLUMNS
)  # fmt: skip
STOCK = f"SELECT {_SHOWN} FROM inventory_item WHERE event_id = %(event)s ORDER BY sku_key"


def template() -> bytes:
    """A file with the columns and no rows."""
    return MARK + HEADER.encode() + b"\r\n"


@as_of_now
def stock(event_id: str) -> Iterator[bytes]:
    """All items of an event."""
    return as_csv(STOCK, HEADER.split(","), {"event": event_id})


def as_csv(query: str, header: Sequence[str], parameters: dict[str, Any]) -> Iterator[bytes]:
    """What a query gives, as a file that spreadsheets open."""
    first = MARK + ",".join(header).encode() + b"\n"
    return chain([first], copied(f"COPY ({query}) TO STDOUT (FORMAT csv)", parameters))
