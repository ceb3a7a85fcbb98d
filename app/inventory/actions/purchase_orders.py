"""Purchase orders for low items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from sqlalchemy import RowMapping

from app.accounts.caller import Caller
from app.core.transaction import transaction
from app.inventory import queries
from app.inventory.sql import CREATE_ORDERS_SQL, MAX_ITEMS, PREVIEW_ORDERS_SQL


@dataclass(frozen=True)
class OrderLine:
    """A line of a purchase order; the value is None when the cost price is unknown."""

    item_id: str
    sku: str
    name: str
    unit: str | None
    quantity: Decimal
    cost_price: Decimal | None
    value: Decimal | None


@dataclass(frozen=True)
class PurchaseOrder:
    """A purchase order to one supplier; a dry run gives no id and no URL."""

    id: str | None
    supplier: str | None
    lines: list[OrderLine]
    total_value: Decimal
    sheet_url: str | None


@dataclass(frozen=True)
class Reorder:
    """The purchase orders of a reorder and their number of items; `more` says that another call would order more."""

    dry_run: bool
    orders: list[PurchaseOrder]
    items: int
    more: bool


def reorder_items(
    *, caller: Caller, event_id: str, item_ids: Sequence[str] | None = None, dry_run: bool = False
) -> Reorder:
    """Order the items at or below their reorder level, one order for each supplier. Stock on order counts as available.

    Raises NotFound.
    """
    queries.get_event(caller, event_id)
    params = {"event": event_id, "ids": item_ids, "most": MAX_ITEMS}
    with transaction() as session:
        if dry_run:
            rows = session.execute(PREVIEW_ORDERS_SQL, params).mappings().all()
        else:
            rows = session.execute(CREATE_ORDERS_SQL, {**params, "caller": caller.id}).mappings().all()
    return Reorder(dry_run, list(_group_orders(rows, event_id)), items=len(rows), more=len(rows) == MAX_ITEMS)


def _group_orders(rows: Iterable[RowMapping], event_id: str) -> Iterable[PurchaseOrder]:
    for (order_id, supplier), order_rows in groupby(rows, lambda row: (row["order_id"], row["supplier"])):
        lines = [_build_line(row) for row in order_rows]
        yield PurchaseOrder(
            id=order_id,
            supplier=supplier,
            lines=lines,
            total_value=sum((line.value or Decimal(0) for line in lines), Decimal(0)),
            sheet_url=order_id and f"/api/events/{event_id}/inventory/orders/{order_id}/sheet.pdf",
        )


def _build_line(row: RowMapping) -> OrderLine:
    return OrderLine(
        item_id=row["id"],
        sku=row["sku"],
        name=row["name"],
        unit=row["unit"],
        quantity=row["quantity"],
        cost_price=row["cost_price"],
        value=None if row["cost_price"] is None else round(row["quantity"] * row["cost_price"], 2),
    )
