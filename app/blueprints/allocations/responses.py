"""Claim codes as JSON, or as a sheet for a label printer.

A block with a page of its slots: what organisers and holders read.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import Response, request

from app.allocations import link_tokens
from app.allocations.queries import SLOT_SORTS
from app.core.paging import Order, page_of
from app.web import paging
from app.web.envelope import dump_json, envelope_response

CSV_TYPE, JSON_TYPE = "text/csv", "application/json"


def build_code_response(codes: Sequence[Mapping[Any, Any]], status: int) -> Response:
    """The codes in what the client prefers. There may be 5,000, so no schema walks them."""
    url_prefix = link_tokens.build_url_prefix("claim")
    if request.accept_mimetypes.best_match([JSON_TYPE, CSV_TYPE]) == CSV_TYPE:
        lines = ["code,url,slotId", *(f"{row['code']},{url_prefix}{row['code']},{row['slot_id']}" for row in codes)]
        headers = {"Content-Disposition": 'attachment; filename="codes.csv"'}
        return Response("\r\n".join(lines) + "\r\n", status, headers, content_type="text/csv; charset=utf-8")
    serialized_codes = [_serialize_code(row) for row in codes]
    return envelope_response(dump_json({"codes": serialized_codes, "claimUrl": url_prefix}), status)


def _serialize_code(row: Mapping[Any, Any]) -> dict[str, Any]:
    code = {"slotId": row["slot_id"], "code": row["code"]}
    return code if "status" not in row else {**code, **{name: row[name] for name in ("status", "name", "email")}}


SLOT_ID_COLUMN = SLOT_SORTS["id"]


def add_slot_page(
    block: dict[str, Any],
    slots_query: Callable[..., Any],
    *,
    limit: int,
    with_total: bool,
    cursor: str | None = None,
    **filters: Any,
) -> dict[str, Any]:
    """The block, the slots that `slots(block_id)` selects in the order of their making, and where the next page is."""
    cursor_scope = f"slots {block['id']}"
    after = paging.decode_cursor(cursor, cursor_scope, SLOT_ID_COLUMN) if cursor is not None else None
    page = page_of(
        slots_query(block["id"], **filters),
        id_column=SLOT_ID_COLUMN,
        order=Order(SLOT_ID_COLUMN, False),
        limit=limit,
        after=after,
        with_total=with_total,
    )
    return {**block, "slots": page.rows, "pagination": paging.serialize_pagination(page, cursor_scope)}
