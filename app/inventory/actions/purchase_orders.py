"""Ordering what has run low."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import RowMapping

from app.accounts.caller import Caller
from app.core.transaction import transaction
from app.inventory import queries
from app.inventory.reorder_sql import CREATE_ORDERS_SQL, MAX_ITEMS, PREVIEW_ORDERS_SQL


def reorder_items(
    *, caller: Caller, event_id: str, item_ids: Sequence[str] | None = None, dry_run: bool = False
) -> dict[str, Any]:
    """Orders by supplier for what is at or below its reorder level, counting what is on order; `more` says that
    another call would order more. Raises NotFound."""
    queries.get_writable_event(caller, event_id)
    params = {"event": event_id, "ids": item_ids, "most": MAX_ITEMS}
    with transaction() as session:
        if dry_run:
            rows = session.execute(PREVIEW_ORDERS_SQL, params).mappings().all()
        else:
            rows = session.execute(CREATE_ORDERS_SQL, {**params, "caller": caller.id}).mappings().all()
    return {
        "dry_run": dry_run,
        "orders": list(_group_orders(rows, event_id)),
        "items": len(rows),
        "more": len(rows) == MAX_ITEMS,
    }


def _group_orders(rows: Iterable[RowMapping], event_id: str) -> Iterable[dict[str, Any]]:
    for (order_id, supplier), lines in groupby(rows, lambda row: (row["order_id"], row["supplier"])):
        serialized_lines = [{**line, "item_id": line["id"], "value": _calculate_line_value(line)} for line in lines]
        yield {
            "id": order_id,
            "supplier": supplier,
            "lines": serialized_lines,
            "total_value": sum(line["value"] or 0 for line in serialized_lines),
            "sheet_url": order_id and f"/api/events/{event_id}/inventory/orders/{order_id}/sheet.pdf",
        }


def _calculate_line_value(line: RowMapping) -> Any:
    return None if line["cost_price"] is None else round(line["quantity"] * line["cost_price"], 2)
