"""Stock reminders: their settings or the defaults, when the next digest is due, and its content."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypedDict, cast
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, RowMapping, Select, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import Sender, build_sender, list_sender_columns
from app.accounts.queries import owner_id_sql
from app.core.db import database_now, db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import owned
from app.events.timezones import to_instant
from app.inventory.filters import expiry_sql
from app.inventory.models import ITEM_TABLE, AnyColumn, Reminder

DAILY, WEEKLY = "daily", "weekly"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class ReminderSettings(TypedDict):
    """The settings of a reminder, without its recipients."""

    enabled: bool
    frequency: str
    hour: int
    weekday: str
    expiring_within_days: int
    include_low_stock: bool
    include_expiring: bool


class ReminderData(ReminderSettings):
    """The reminder of an event; version 0 when it has never been set."""

    recipients: list[str]
    next_at: datetime | None
    version: int


class ReminderChanges(TypedDict, total=False):
    """The fields of a reminder that a request may change."""

    enabled: bool
    frequency: str
    hour: int
    weekday: str
    expiring_within_days: int
    include_low_stock: bool
    include_expiring: bool
    recipients: list[str]


DEFAULTS: ReminderSettings = {
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
"""Reminders stop so long after the end of the event."""


class DigestItem(NamedTuple):
    """An item of a digest."""

    id: str
    name: str
    sku: str
    unit: str | None
    available: Decimal
    reorder_level: Decimal
    on_order: Decimal
    expiry_date: date | None
    on_hand: Decimal


ItemQuery = Select[*tuple[Any, ...]]


@dataclass(frozen=True)
class Digest:
    """The low items and the expiring items of an event, and the number of items left out."""

    event_name: str
    low: list[DigestItem]
    expiring: list[DigestItem]
    omitted_count: int
    today: date


def calculate_next_at(*, frequency: str, hour: int, weekday: str, zone: str, now: datetime | None = None) -> datetime:
    """Return the next time after now at which that hour begins in the time zone of the event."""
    local = (now or database_now()).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    due = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= local:
        due += timedelta(days=1)
    if frequency == WEEKLY:
        due += timedelta(days=(WEEKDAYS.index(weekday) - due.weekday()) % 7)
    return to_instant(due, zone)


def load_digest(event_id: str) -> Digest | None:
    """Return the digest of an event by the settings of its reminder; None when the event has been deleted."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, Reminder)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    ).first()
    if row is None:
        return None
    settings = _build_settings(row.Reminder)
    today = database_now().astimezone(ZoneInfo(row.timezone)).date()
    low_items = _load_items(list_low_items_query(event_id)) if settings["include_low_stock"] else []
    until = today + timedelta(days=settings["expiring_within_days"])
    expiring_items = _load_items(list_expiring_items_query(event_id, until)) if settings["include_expiring"] else []
    omitted_count = max(0, len(low_items) - MAX_LISTED_ITEMS) + max(0, len(expiring_items) - MAX_LISTED_ITEMS)
    return Digest(row.name, low_items[:MAX_LISTED_ITEMS], expiring_items[:MAX_LISTED_ITEMS], omitted_count, today)


def list_low_items_query(event_id: str) -> ItemQuery:
    """Return the query of the first items at or below their reorder level, by name."""
    return _list_items_query(event_id, ITEM_TABLE.c.is_low, sort_key=func.lower(ITEM_TABLE.c.name))


def list_expiring_items_query(event_id: str, until: date) -> ItemQuery:
    """Return the query of the first items on hand that expire until that day, the soonest first."""
    return _list_items_query(event_id, until >= EXPIRY_SQL, ITEM_TABLE.c.on_hand > 0, sort_key=EXPIRY_SQL)


def _list_items_query(event_id: str, *conditions: ColumnElement[bool], sort_key: AnyColumn) -> ItemQuery:
    return (
        select(*(ITEM_TABLE.c[name] for name in DigestItem._fields))
        .where(ITEM_TABLE.c.event_id == event_id, ITEM_TABLE.c.archived_at.is_(None), *conditions)
        .order_by(sort_key, ITEM_TABLE.c.id)
        .limit(MAX_LISTED_ITEMS + 1)
    )


def _load_items(query: ItemQuery) -> list[DigestItem]:
    return [DigestItem(*row) for row in db.session.execute(query)]


def get_reminder(caller: Caller, event_id: str) -> ReminderData:
    """Return the reminder of an event. Raises NotFound."""
    return _serialize_reminder(_get_reminder_row(caller, event_id))


def get_reminder_and_sender(caller: Caller, event_id: str) -> tuple[ReminderData, Sender]:
    """Return the reminder of an event that the caller may change, and the sender of its emails. Raises NotFound."""
    row = _get_reminder_row(caller, event_id)
    return _serialize_reminder(row), build_sender(row)


def load_reminder(session: OrmSession, event_id: str) -> ReminderData:
    """Return the reminder of an event that this transaction has locked."""
    return _serialize_reminder(session.execute(_reminder_query(event_id)).mappings().one())


def _get_reminder_row(caller: Caller, event_id: str) -> RowMapping:
    row = db.session.execute(_reminder_query(event_id).where(owned(caller))).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _reminder_query(event_id: str) -> Select[*tuple[Any, ...]]:
    return (
        select(Reminder, *list_sender_columns(Event.organiser_id))
        .select_from(Event)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    )


def _serialize_reminder(row: RowMapping) -> ReminderData:
    reminder: Reminder | None = row["Reminder"]
    settings = _build_settings(reminder)
    if reminder is None:
        return {**settings, "recipients": [row["sender_email"]], "next_at": None, "version": 0}
    return {
        **settings,
        "recipients": reminder.recipients,
        "next_at": reminder.next_at,
        "version": reminder.version,
    }


def _build_settings(reminder: Reminder | None) -> ReminderSettings:
    if reminder is None:
        return DEFAULTS
    return cast(ReminderSettings, {name: getattr(reminder, name) for name in DEFAULTS})
