"""Purchase orders: made for low items, received in one or more deliveries, and closed when nothing more will come."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, NotRequired, TypedDict

from sqlalchemy import RowMapping, func, update

from app.accounts.caller import Caller
from app.core.db import ReadOrWriteSession
from app.core.errors import NotFound, StaleVersion, ValidationFailed
from app.core.transaction import transaction
from app.inventory import queries
from app.inventory.errors import OrderClosed
from app.inventory.item_fields import MAX_QUANTITY
from app.inventory.models import StockOrder
from app.inventory.order_states import CANCELLED, OPEN, RECEIVED
from app.inventory.purchase_order_queries import Line, build_sheet_url, load_order_lines
from app.inventory.purchase_order_sql import (
    CREATE_ORDERS_SQL,
    LOCK_ORDER_SQL,
    MAX_ITEMS,
    PREVIEW_ORDERS_SQL,
    RECEIVE_LINES_SQL,
)

CANCELLED_NOTE = "order cancelled"


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


class ArrivedLine(TypedDict):
    """How much of an item has arrived; `expected` is what was on order of it for the person who says so."""

    item_id: str
    quantity: Decimal
    expected: NotRequired[Decimal | None]


def receive_order(
    caller: Caller,
    event_id: str,
    order_id: str,
    *,
    lines: Sequence[ArrivedLine] | None = None,
    rest_comes_later: bool = False,
) -> str:
    """Record what has arrived of an open order, close it, and return its state.

    What has not arrived is not on order any more. With `rest_comes_later` it stays on order, and the order stays open
    while anything is missing. Without `lines`, everything has arrived that is on order still; an item that they leave out
    has not. Raises NotFound, OrderClosed, StaleVersion if another quantity is expected now, and ValidationFailed for an
    item that the order does not have or that is archived, and for too much; with `rest_comes_later` also for an item that
    is not on order any more, and if nothing has arrived.
    """
    with transaction() as session:
        rows = _lock_open_order(session, caller, event_id, order_id)
        if lines is None:
            lines = [{"item_id": row["item_id"], "quantity": row["expected"]} for row in rows]
        _check_lines(lines, {row["item_id"]: row for row in rows}, rest_comes_later=rest_comes_later)
        arrived = {line["item_id"]: line["quantity"] for line in lines}
        if rest_comes_later and any(row["expected"] > arrived.get(row["item_id"], 0) for row in rows):
            _receive_part(session, caller, event_id, order_id, rows, arrived)
            return OPEN
        return _close_order(session, caller, event_id, order_id, rows, status=RECEIVED, arrived=arrived)


def cancel_order(caller: Caller, event_id: str, order_id: str) -> str:
    """Close an open order of which nothing more will arrive, and return its state. Raises NotFound, OrderClosed."""
    with transaction() as session:
        rows = _lock_open_order(session, caller, event_id, order_id)
        return _close_order(session, caller, event_id, order_id, rows, status=CANCELLED, arrived={})


def _lock_open_order(session: ReadOrWriteSession, caller: Caller, event_id: str, order_id: str) -> list[Line]:
    """Lock an order and its items. Returns its lines, with what is on hand and on order of each item."""
    queries.get_event(caller, event_id)
    params = {"order": order_id, "event": event_id}
    status = session.scalar(LOCK_ORDER_SQL, params)
    if status is None:
        raise NotFound()
    if status != OPEN:
        raise OrderClosed(status=status)
    return load_order_lines(event_id, order_id, is_open=True, lock=True)


def _check_lines(lines: Sequence[ArrivedLine], rows: Mapping[str, Line], *, rest_comes_later: bool) -> None:
    """Raises ValidationFailed with all problems, and StaleVersion."""
    errors, seen_ids = [], set()
    for index, line in enumerate(lines):
        row = rows.get(line["item_id"])
        if row is None or line["item_id"] in seen_ids:
            problem = ("itemId", "unknown_item", "The order has no such item, or another line has it.")
        elif row["archived_at"] is not None and line["quantity"]:
            problem = ("quantity", "archived", "This item is archived. Restore it first.")
        elif row["on_hand"] + line["quantity"] > MAX_QUANTITY:
            problem = ("quantity", "too_large", "There can be at most 999,999,999.999 on hand.")
        elif rest_comes_later and line["quantity"] and not (row["expected"] or line.get("expected")):
            # What is expected does not change by it, so a second request could not be told from the first.
            problem = ("quantity", "not_on_order", "Nothing of this item is on order any more.")
        else:
            problem = None
        if problem is not None:
            name, code, message = problem
            errors.append({"path": f"lines[{index}].{name}", "code": code, "message": message})
        seen_ids.add(line["item_id"])
    if rest_comes_later and not any(line["quantity"] for line in lines):
        errors.append({"path": "restComesLater", "code": "nothing_arrived", "message": "Something must have arrived."})
    if errors:
        raise ValidationFailed(errors)
    if any(line.get("expected") not in (None, rows[line["item_id"]]["expected"]) for line in lines):
        raise StaleVersion()


def _close_order(
    session: ReadOrWriteSession,
    caller: Caller,
    event_id: str,
    order_id: str,
    rows: Sequence[Line],
    *,
    status: str,
    arrived: Mapping[str, Decimal],
) -> str:
    is_cancelled = status == CANCELLED
    params = _build_line_params(caller, event_id, order_id, rows, arrived)
    params["released"] = params["expected"]
    if is_cancelled:
        params |= {"reason": "correction", "note": CANCELLED_NOTE}
    session.execute(RECEIVE_LINES_SQL, params)
    session.execute(
        update(StockOrder)
        .where(StockOrder.id == order_id, StockOrder.event_id == event_id)
        .values(status=status, closed_at=func.now())
    )
    return status


def _receive_part(
    session: ReadOrWriteSession,
    caller: Caller,
    event_id: str,
    order_id: str,
    rows: Sequence[Line],
    arrived: Mapping[str, Decimal],
) -> None:
    """Record what has arrived; the lines of which nothing came do not change."""
    params = _build_line_params(
        caller, event_id, order_id, [row for row in rows if arrived.get(row["item_id"])], arrived
    )
    params["released"] = list(map(min, params["quantities"], params["expected"]))
    session.execute(RECEIVE_LINES_SQL, params)


def _build_line_params(
    caller: Caller, event_id: str, order_id: str, rows: Sequence[Line], arrived: Mapping[str, Decimal]
) -> dict[str, Any]:
    return {
        "event": event_id,
        "order": order_id,
        "caller": caller.id,
        "ids": [row["item_id"] for row in rows],
        "quantities": [arrived.get(row["item_id"], Decimal(0)) for row in rows],
        "expected": [row["expected"] for row in rows],
        "reason": "received",
        "note": None,
    }


def _group_orders(rows: Iterable[RowMapping], event_id: str) -> Iterable[PurchaseOrder]:
    for (order_id, supplier), order_rows in groupby(rows, lambda row: (row["order_id"], row["supplier"])):
        lines = [_build_line(row) for row in order_rows]
        yield PurchaseOrder(
            id=order_id,
            supplier=supplier,
            lines=lines,
            total_value=sum((line.value or Decimal(0) for line in lines), Decimal(0)),
            sheet_url=order_id and build_sheet_url(event_id, order_id),
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
