"""Reads of the purchase orders of an event whose stock the caller may see."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict, cast

from sqlalchemy import RowMapping, Select, func, literal, select

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import NotFound
from app.inventory.models import AnyColumn, StockOrder, StockOrderLine
from app.inventory.order_states import OPEN
from app.inventory.purchase_order_sql import ITEMS_SQL, LINES_SQL, LOCK_ITEMS_SQL, NEWER_LINES_SQL
from app.inventory.queries import StockEvent, get_event

NUMBER_LENGTH = 8
ORDER_SORTS: dict[str, AnyColumn] = {"createdAt": cast(AnyColumn, StockOrder.created_at)}


class Line(TypedDict):
    """A line of an order with its item; `expected` is how much of it is on order still.

    `arrived` is what came of it so far, with the order or recorded with the item.
    """

    item_id: str
    sku: str
    name: str
    unit: str | None
    quantity: Decimal
    received: Decimal | None
    arrived: Decimal
    expected: Decimal
    on_hand: Decimal
    archived_at: datetime | None


@dataclass(frozen=True)
class OrderDetails:
    """A purchase order with its lines."""

    id: str
    supplier: str | None
    status: str
    created_at: datetime
    closed_at: datetime | None
    sheet_url: str
    lines: list[Line]


def list_orders_query(caller: Caller, event_id: str) -> Select[*tuple[Any, ...]]:
    """Return the query of the purchase orders with their number of items, who made them, and the time zone of the event.

    Raises NotFound.
    """
    event = get_event(caller, event_id)
    items = select(func.count()).where(StockOrderLine.order_id == StockOrder.id).scalar_subquery()
    columns = [
        StockOrder.id,
        StockOrder.event_id,
        StockOrder.supplier,
        StockOrder.status,
        StockOrder.created_at,
        StockOrder.closed_at,
        items.label("items"),
        func.upper(func.right(StockOrder.id, NUMBER_LENGTH)).label("number"),
    ]
    return (
        select(*columns, Account.name.label("actor_name"), literal(event.timezone).label("timezone"))
        .outerjoin(Account, Account.id == StockOrder.actor_id)
        .where(StockOrder.event_id == event.id)
    )


def get_order(caller: Caller, event_id: str, order_id: str) -> tuple[StockOrder, list[StockOrderLine], StockEvent]:
    """Return a purchase order with its lines and its event. Raises NotFound."""
    event = get_event(caller, event_id)
    stock_order = _find_order(event.id, order_id)
    lines = db.session.scalars(
        select(StockOrderLine).where(StockOrderLine.order_id == order_id).order_by(StockOrderLine.sku)
    ).all()
    return stock_order, list(lines), event


def get_order_details(caller: Caller, event_id: str, order_id: str) -> OrderDetails:
    """Return a purchase order with its lines in the order of the SKUs. Raises NotFound."""
    event = get_event(caller, event_id)
    order = _find_order(event.id, order_id)
    return OrderDetails(
        id=order.id,
        supplier=order.supplier,
        status=order.status,
        created_at=order.created_at,
        closed_at=order.closed_at,
        sheet_url=build_sheet_url(event.id, order.id),
        lines=load_order_lines(event.id, order_id, is_open=order.status == OPEN),
    )


def load_order_lines(event_id: str, order_id: str, *, is_open: bool, lock: bool = False) -> list[Line]:
    """Return the lines of an order in the order of the SKUs; with `lock`, in a transaction, their items are
    locked.

    What is on order of an item belongs to its newest open orders: deliveries that were recorded with the item were those
    of older ones.
    """
    params = {"order": order_id, "event": event_id}
    lines = db.session.execute(LINES_SQL, params).mappings().all()
    ids = [line["item_id"] for line in lines]
    rows = db.session.execute(LOCK_ITEMS_SQL if lock else ITEMS_SQL, {"event": event_id, "ids": ids}).mappings()
    items = {item["id"]: item for item in rows}
    newer: dict[str, Decimal] = {}
    if is_open:
        newer = {row.item_id: row.quantity for row in db.session.execute(NEWER_LINES_SQL, {**params, "ids": ids})}
    return [
        _build_line(line, items[line["item_id"]], newer.get(line["item_id"], Decimal(0)), is_open=is_open)
        for line in lines
    ]


def _build_line(line: RowMapping, item: RowMapping, newer: Decimal, *, is_open: bool) -> Line:
    received = line["received"] or Decimal(0)
    expected = max(Decimal(0), min(line["quantity"] - received, item["on_order"] - newer)) if is_open else Decimal(0)
    arrived = max(received, line["quantity"] - expected) if is_open else received
    item_values = {"on_hand": item["on_hand"], "archived_at": item["archived_at"]}
    return cast(Line, {**line, "arrived": arrived, "expected": expected, **item_values})


def format_order_number(order_id: str) -> str:
    """Return the short number of an order for people, as `number` of `list_orders_query`."""
    return order_id[-NUMBER_LENGTH:].upper()


def build_sheet_url(event_id: str, order_id: str) -> str:
    """Return where the API has the PDF of an order."""
    return f"/api/events/{event_id}/inventory/orders/{order_id}/sheet.pdf"


def _find_order(event_id: str, order_id: str) -> StockOrder:
    order = db.session.scalar(select(StockOrder).where(StockOrder.id == order_id, StockOrder.event_id == event_id))
    if order is None:
        raise NotFound()
    return order
