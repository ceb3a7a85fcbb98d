"""The money of all events of an organisation: the figures of each, the last event first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.accounts.caller import Caller
from app.core.transaction import snapshot
from app.events.models import Event
from app.events.queries import owned
from app.money.event_money import EventMoney, load_money_by_event

MAX_EVENTS = 200


@dataclass(frozen=True)
class MoneyOfEvent:
    """An event, and its money."""

    id: str
    name: str
    starts_at: datetime
    timezone: str
    money: EventMoney


def load_organisation_money(caller: Caller) -> Sequence[MoneyOfEvent]:
    """The money of the last 200 events that the caller may read, all of the same moment."""
    with snapshot() as session:
        events = session.execute(
            select(Event.id, Event.name, Event.starts_at, Event.timezone)
            .where(owned(caller))
            .order_by(Event.starts_at.desc(), Event.id)
            .limit(MAX_EVENTS)
        ).all()
        money = load_money_by_event([event.id for event in events])
    return [MoneyOfEvent(*event, money[event.id]) for event in events]
