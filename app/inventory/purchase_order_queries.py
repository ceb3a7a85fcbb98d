"""Reads of the purchase orders of an event whose stock the caller may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import Select, func, literal, select

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import NotFound
from app.inventory.models import AnyColumn, StockOrder, StockOrderLine
from app.inventory.order_states import OPEN
from app.inventory.purchase_order_sql import ORDER_LINES_SQL
from app.inventory.queries import StockEvent, get_event

ORDER_SORTS: dict[str, AnyColumn] = {"createdAt": cast(AnyColumn, StockOrder.created_at)}


@dataclass(frozen=True)
class OrderDetails:
    """A purchase order with its lines; `expected` of a line is how much of it is on order still."""

    id: str
    supplier: str | None
    status: str
    created_at: datetime
    closed_at: datetime | None
    sheet_url: str
    lines: Sequence[Mapping[str, Any]]


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
    rows = db.session.execute(ORDER_LINES_SQL, {"order": order_id, "event": event.id}).mappings()
    return OrderDetails(
        id=order.id,
        supplier=order.supplier,
        status=order.status,
        created_at=order.created_at,
        closed_at=order.closed_at,
        sheet_url=build_sheet_url(event.id, order.id),
        lines=[dict(row) if order.status == OPEN else {**row, "expected": Decimal(0)} for row in rows],
    )


def build_sheet_url(event_id: str, order_id: str) -> str:
    """Return where the API has the PDF of an order."""
    return f"/api/events/{event_id}/inventory/orders/{order_id}/sheet.pdf"


def _find_order(event_id: str, order_id: str) -> StockOrder:
    order = db.session.scalar(select(StockOrder).where(StockOrder.id == order_id, StockOrder.event_id == event_id))
    if order is None:
        raise NotFound()
    return order
