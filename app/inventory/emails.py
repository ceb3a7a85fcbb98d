"""What people get by mail about stock: the words stand in templates/email, the facts come from here."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from flask import current_app
from sqlalchemy import func, select

from app.clients.email_templates import render_email
from app.clients.message import Message
from app.core.db import db
from app.events.models import Event
from app.inventory.formatting import format_quantity
from app.inventory.models import StockItem
from app.inventory.reminders import MAX_LISTED_ITEMS, Digest


def build_digest_email(digest: Digest, *, to: str, key: str) -> Message:
    """What has run low and what is about to expire."""
    return render_email(
        "inventory_digest",
        to=to,
        key=key,
        name="",
        event=digest.event.name,
        low=[_format_low_item(item, item.available) for item in digest.low],
        expiring=[
            f"{item.name} ({item.sku}): {format_quantity(item.on_hand, item.unit)}, {_format_expiry(item.expiry_date, digest.today)}"
            for item in digest.expiring
        ],
        more=digest.omitted_count,
        url=_build_docs_url(),
    )


def build_alert_email(event_id: str, available_by_item: dict[str, Decimal], *, to: str, key: str) -> Message | None:
    """What has just fallen to its reorder level; None when the event has gone."""
    event = db.session.execute(select(Event.name).where(Event.id == event_id)).first()
    rows: Sequence[Any] = db.session.execute(
        select(StockItem.id, StockItem.name, StockItem.sku, StockItem.unit, StockItem.reorder_level, StockItem.on_order)
        .where(StockItem.id.in_(list(available_by_item)))
        .order_by(func.lower(StockItem.name))
        .limit(MAX_LISTED_ITEMS)
    ).all()
    if event is None or not rows:
        return None
    return render_email(
        "inventory_alert",
        to=to,
        key=key,
        name="",
        event=event.name,
        first=rows[0].name,
        others=len(available_by_item) - 1,
        low=[_format_low_item(row, available_by_item[row.id]) for row in rows],
        more=max(0, len(available_by_item) - len(rows)),
        url=_build_docs_url(),
    )


def _format_low_item(item: Any, available: Decimal) -> str:
    level = f"{format_quantity(available, item.unit)} available, reorder level {format_quantity(item.reorder_level)}"
    on_order = f", {format_quantity(item.on_order)} on order" if item.on_order else ""
    return f"{item.name} ({item.sku}): {level}{on_order}"


def _format_expiry(expiry: Any, today: Any) -> str:
    formatted_day = f"{expiry:%a} {expiry.day} {expiry:%B %Y}"
    return f"expired on {formatted_day}" if expiry < today else f"good until {formatted_day}"


def _build_docs_url() -> str:
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/docs"
