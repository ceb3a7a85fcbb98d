"""When a stock reminder is due, by the clock of the event, and what it says.

The reminder of an event as it stands, or as it would be if nobody has set it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import Sender, build_sender, list_sender_columns
from app.core.db import database_now, db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.events.time_conversion import to_instant
from app.inventory.filters import expiry_sql
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
MAX_LISTED_ITEMS = 50
EXPIRY_SQL = expiry_sql()
REMINDER_PERIOD_AFTER_EVENT = timedelta(days=14)
"""For so long after an event people still want to know what is left."""


@dataclass(frozen=True)
class Digest:
    """What has run low and what will soon be too old, each with how many more there are."""

    event: Any
    low: list[Any]
    expiring: list[Any]
    omitted_count: int
    today: date


def calculate_next_at(*, frequency: str, hour: int, weekday: str, zone: str, now: datetime | None = None) -> datetime:
    """The next time after now at which that hour begins where the event is."""
    local = (now or database_now()).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    due = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= local:
        due += timedelta(days=1)
    if frequency == WEEKLY:
        due += timedelta(days=(WEEKDAYS.index(weekday) - due.weekday()) % 7)
    return to_instant(due, zone)


def load_digest(event_id: str) -> Digest | None:
    """What there is to tell of an event's stock, by what its reminder says; None when the event has gone."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, Reminder)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    ).first()
    if row is None:
        return None
    settings = {name: getattr(row.Reminder, name) if row.Reminder else DEFAULTS[name] for name in DEFAULTS}
    today = database_now().astimezone(ZoneInfo(row.timezone)).date()
    low_items = list(db.session.execute(list_low_items_query(event_id))) if settings["include_low_stock"] else []
    until = today + timedelta(days=settings["expiring_within_days"])
    expiring_items = (
        list(db.session.execute(list_expiring_items_query(event_id, until))) if settings["include_expiring"] else []
    )
    omitted_count = max(0, len(low_items) - MAX_LISTED_ITEMS) + max(0, len(expiring_items) - MAX_LISTED_ITEMS)
    return Digest(row, low_items[:MAX_LISTED_ITEMS], expiring_items[:MAX_LISTED_ITEMS], omitted_count, today)


def list_low_items_query(event_id: str) -> Select[Any]:
    """The first items at or below their reorder level, by name."""
    return _list_items_query(event_id, StockItem.is_low, sort_key=func.lower(StockItem.name))


def list_expiring_items_query(event_id: str, until: date) -> Select[Any]:
    """The first items on hand that expire until that day, the soonest first."""
    return _list_items_query(event_id, until >= EXPIRY_SQL, StockItem.on_hand > 0, sort_key=EXPIRY_SQL)


def _list_items_query(event_id: str, *conditions: Any, sort_key: Any) -> Select[Any]:
    columns: tuple[Any, ...] = (
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
        select(*columns)
        .where(StockItem.event_id == event_id, *conditions)
        .order_by(sort_key, StockItem.id)
        .limit(MAX_LISTED_ITEMS + 1)
    )


ReminderRow = Any


def get_reminder(caller: Caller, event_id: str) -> dict[str, Any]:
    """The reminder of an event. Raises NotFound."""
    return _serialize_reminder(_get_reminder_row(caller, event_id, READS))


def get_reminder_and_sender(caller: Caller, event_id: str) -> tuple[dict[str, Any], Sender]:
    """The reminder of an event that the caller may change, and in whose name it is mailed. Raises NotFound."""
    row = _get_reminder_row(caller, event_id, WRITES)
    return _serialize_reminder(row), build_sender(row._mapping)


def load_reminder(session: OrmSession, event_id: str) -> dict[str, Any]:
    """The same inside a transaction that has locked the event."""
    return _serialize_reminder(session.execute(_reminder_query(event_id)).one())


def _get_reminder_row(caller: Caller, event_id: str, tier: str) -> ReminderRow:
    row = db.session.execute(_reminder_query(event_id).where(owned(caller, tier))).first()
    if row is None:
        raise NotFound()
    return row


def _reminder_query(event_id: str) -> Any:
    return (
        select(Reminder, *list_sender_columns(Account))
        .select_from(Event)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    )


def _serialize_reminder(row: ReminderRow) -> dict[str, Any]:
    reminder = row.Reminder
    if reminder is None:
        return {**DEFAULTS, "recipients": [row.sender_email], "next_at": None, "version": 0}
    return {name: getattr(reminder, name) for name in (*DEFAULTS, "recipients", "next_at", "version")}
