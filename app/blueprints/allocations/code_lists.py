"""Claim codes as JSON, or as a sheet for a label printer."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, request

from app.allocations import links
from app.web.envelope import as_json, spliced_response

CSV, JSON = "text/csv", "application/json"


def code_list(codes: Sequence[Mapping[Any, Any]], status: int) -> Response:
    """The codes in what the client prefers. There may be 5,000, so no schema walks them."""
    base = links.base_of("claim")
    if request.accept_mimetypes.best_match([JSON, CSV]) == CSV:
        lines = ["code,url,slotId", *(f"{each['code']},{base}{each['code']},{each['slot_id']}" for each in codes)]
        named = {"Content-Disposition": 'attachment; filename="codes.csv"'}
        return Response("\r\n".join(lines) + "\r\n", status, named, content_type="text/csv; charset=utf-8")
    shown = [_shown(each) for each in codes]
    return spliced_response(as_json({"codes": shown, "claimUrl": base}), status)


def _shown(row: Mapping[Any, Any]) -> dict[str, Any]:
    said = {"slotId": row["slot_id"], "code": row["code"]}
    return said if "status" not in row else {**said, **{name: row[name] for name in ("status", "name", "email")}}
