"""What people get by mail about stock: the words stand in templates/email, the facts come from here."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from flask import current_app
from sqlalchemy import func, select

from app.clients.letters import letter
from app.clients.message import Message
from app.core.db import db
from app.events.models import Event
from app.inventory.models import StockItem
from app.inventory.quantities import spoken
from app.inventory.reminders import LISTED, Digest


def digest_letter(told: Digest, *, to: str, key: str) -> Message:
    """What has run low and what is about to expire."""
    return letter(
        "inventory_digest",
        to=to,
        key=key,
        name="",
        event=told.event.name,
        low=[_low(item, item.available) for item in told.low],
        expiring=[
            f"{item.name} ({item.sku}): {spoken(item.on_hand, item.unit)}, {_when(item.expiry_date, told.today)}"
            for item in told.expiring
        ],
        more=told.more,
        url=_address(),
    )


def alert_letter(event_id: str, fallen: dict[str, Decimal], *, to: str, key: str) -> Message | None:
    """What has just fallen to its reorder level; None when the event has gone."""
    event = db.session.execute(select(Event.name).where(Event.id == event_id)).first()
    rows: Sequence[Any] = db.session.execute(
        select(StockItem.id, StockItem.name, StockItem.sku, StockItem.unit, StockItem.reorder_level, StockItem.on_order)
        .where(StockItem.id.in_(list(fallen)))
        .order_by(func.lower(StockItem.name))
        .limit(LISTED)
    ).all()
    if event is None or not rows:
        return None
    return letter(
        "inventory_alert",
        to=to,
        key=key,
        name="",
        event=event.name,
        first=rows[0].name,
        others=len(fallen) - 1,
        low=[_low(row, fallen[row.id]) for row in rows],
        more=max(0, len(fallen) - len(rows)),
        url=_address(),
    )


def _low(item: Any, available: Decimal) -> str:
    level = f"{spoken(available, item.unit)} available, reorder level {spoken(item.reorder_level)}"
    ordered = f", {spoken(item.on_order)} on order" if item.on_order else ""
    return f"{item.name} ({item.sku}): {level}{ordered}"


def _when(expiry: Any, today: Any) -> str:
    said = f"{expiry:%a} {expiry.day} {expiry:%B %Y}"
    return f"expired on {said}" if expiry < today else f"good until {said}"


def _address() -> str:
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/docs"
