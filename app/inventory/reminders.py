"""When a stock reminder is due, by the clock of the event, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select

from app.core.db import database_now, db
from app.events.models import Event
from app.events.times import instant
from app.inventory.filters import expiry
from app.inventory.models import Reminder, StockItem

DAILY, WEEKLY = "daily", "weekly"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DEFAULTS: Mapping[str, Any] = {
    "enabled": False,
    "frequency": DAILY,
    "hour": 8,
    "weekday": WEEKDAYS[0],
    "expiring_within_days": 14,
    "include_low_stock": True,
    "include_expiring": True,
}
LISTED = 50
EXPIRY = expiry()
AFTERWARDS = timedelta(days=14)
"""For so long after an event people still want to know what is left."""


@dataclass(frozen=True)
class Digest:
    """What has run low and what will soon be too old, each with how many more there are."""

    event: Any
    low: list[Any]
    expiring: list[Any]
    more: int
    today: date


def next_at(*, frequency: str, hour: int, weekday: str, zone: str, now: datetime | None = None) -> datetime:
    """The next time after now at which that hour begins where the event is."""
    local = (now or database_now()).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    due = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= local:
        due += timedelta(days=1)
    if frequency == WEEKLY:
        due += timedelta(days=(WEEKDAYS.index(weekday) - due.weekday()) % 7)
    return instant(due, zone)


def digest(event_id: str) -> Digest | None:
    """What there is to tell of an event's stock, by what its reminder says; None when the event has gone."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, Reminder)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    ).first()
    if row is None:
        return None
    asked = {default: getattr(row.Reminder, default) if row.Reminder else DEFAULTS[default] for default in DEFAULTS}
    today = database_now().astimezone(ZoneInfo(row.timezone)).date()
    lows = list(db.session.execute(low(event_id))) if asked["include_low_stock"] else []
    until = today + timedelta(days=asked["expiring_within_days"])
    olds = list(db.session.execute(expiring(event_id, until))) if asked["include_expiring"] else []
    more = max(0, len(lows) - LISTED) + max(0, len(olds) - LISTED)
    return Digest(row, lows[:LISTED], olds[:LISTED], more, today)


def low(event_id: str) -> Select[Any]:
    """The first items at or below their reorder level, by name."""
    return _items(event_id, StockItem.is_low, by=func.lower(StockItem.name))


def expiring(event_id: str, until: date) -> Select[Any]:
    """The first items on hand that expire until that day, the soonest first."""
    return _items(event_id, until >= EXPIRY, StockItem.on_hand > 0, by=EXPIRY)


def _items(event_id: str, *conditions: Any, by: Any) -> Select[Any]:
    shown: tuple[Any, ...] = (
        StockItem.id,
        StockItem.name,
        StockItem.sku,
        StockItem.unit,
        StockItem.available,
        StockItem.reorder_level,
        StockItem.on_order,
        StockItem.expiry_date,
        StockItem.on_hand,
    )
    return (
        select(*shown).where(StockItem.event_id == event_id, *conditions).order_by(by, StockItem.id).limit(LISTED + 1)
    )
