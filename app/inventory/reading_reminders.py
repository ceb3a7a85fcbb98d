"""The reminder of an event as it stands, or as it would be if nobody has set it."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.queries import READS, owned
from app.inventory.models import Reminder
from app.inventory.reminders import DEFAULTS

Row = Any


def reminder(caller: Caller, event_id: str, *, tier: str = READS) -> dict[str, Any]:
    """The reminder of an event. Raises NotFound."""
    row = db.session.execute(_statement(event_id).where(owned(caller, tier))).first()
    if row is None:
        raise NotFound()
    return _shown(row)


def reminder_in(session: OrmSession, event_id: str) -> dict[str, Any]:
    """The same inside a transaction that has locked the event."""
    return _shown(session.execute(_statement(event_id)).one())


def _statement(event_id: str) -> Any:
    return (
        select(Reminder, Account.email)
        .select_from(Event)
        .join(Account, Account.id == Event.organiser_id)
        .outerjoin(Reminder, Reminder.event_id == Event.id)
        .where(Event.id == event_id)
    )


def _shown(row: Row) -> dict[str, Any]:
    found, email = row
    if found is None:
        return {**DEFAULTS, "recipients": [email], "next_at": None, "version": 0}
    return {each: getattr(found, each) for each in (*DEFAULTS, "recipients", "next_at", "version")}
