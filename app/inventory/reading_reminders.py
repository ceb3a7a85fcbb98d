"""The reminder of an event as it stands, or as it would be if nobody has set it."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import Sender, sender_columns, sender_of
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.inventory.models import Reminder
from app.inventory.reminders import DEFAULTS

Row = Any


def reminder(caller: Caller, event_id: str) -> dict[str, Any]:
    """The reminder of an event. Raises NotFound."""
    return _shown(_row(caller, event_id, READS))


def reminder_and_sender(caller: Caller, event_id: str) -> tuple[dict[str, Any], Sender]:
    """The reminder of an event that the caller may change, and in whose name it is mailed. Raises NotFound."""
    row = _row(caller, event_id, WRITES)
    return _shown(row), sender_of(row._mapping)


def reminder_in(session: OrmSession, event_id: str) -> dict[str, Any]:
    """The same inside a transaction that has locked the event."""
    return _shown(session.execute(_statement(event_id)).one())


def _row(caller: Caller, event_id: str, tier: str) -> Row:
    row = db.session.execute(_statement(event_id).where(owned(caller, tier))).first()
    if row is None:
        raise NotFound()
    return row


def _statement(event_id: str) -> Any:
    return (
        select(Reminder, *sender_columns(Account))
        .select_from(Event)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    )


def _shown(row: Row) -> dict[str, Any]:
    found = row.Reminder
    if found is None:
        return {**DEFAULTS, "recipients": [row.sender_email], "next_at": None, "version": 0}
    return {default: getattr(found, default) for default in (*DEFAULTS, "recipients", "next_at", "version")}
