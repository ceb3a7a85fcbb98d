"""Exports of queries as CSV, written by PostgreSQL, so that a million rows need no memory in this process.

Spreadsheets open the files: UTF-8 with a byte order mark. The query escapes formulas (`spreadsheet_cells.escape_sql`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from app.core.db import copy_out

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def stream_query_csv(query: str, header: Sequence[str], parameters: Mapping[str, object]) -> Iterator[bytes]:
    """Return the rows of a query as CSV. Every cell is quoted, because some spreadsheets split at several separators."""
    header_line = BYTE_ORDER_MARK + ",".join(header).encode() + b"\n"
    return chain([header_line], copy_out(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)", parameters))
