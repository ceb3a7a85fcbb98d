"""The events on the home of the desk."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select, true

from app.accounts.caller import Caller
from app.core.db import db
from app.events.models import Event, TicketType
from app.events.queries import SUMMARY_COLUMNS, owned
from app.events.visibility import ARCHIVED, CANCELLED

MAX_CURRENT, MAX_PAST = 50, 5
EventRow = Row[Any]
"""A row of SUMMARY_COLUMNS, with `sold` and `places` of all ticket types, and `has_begun`."""


@dataclass(frozen=True)
class HomeEvents:
    """The events of an organisation: those that run now, those that come, the next first, and the last ones."""

    running: Sequence[EventRow]
    coming: Sequence[EventRow]
    past: Sequence[EventRow]


def load_home_events(caller: Caller) -> HomeEvents:
    """The events that the caller may read. Cancelled and archived ones are past."""
    is_current = Event.ends_at > func.now(), Event.visibility.not_in((CANCELLED, ARCHIVED))
    current = _list_events(caller, *is_current, order=Event.starts_at.expression, limit=MAX_CURRENT)
    past = _list_events(caller, Event.ends_at <= func.now(), order=Event.ends_at.desc(), limit=MAX_PAST)
    return HomeEvents(
        running=[event for event in current if event.has_begun],
        coming=[event for event in current if not event.has_begun],
        past=past,
    )


def _list_events(
    caller: Caller, *conditions: ColumnElement[bool], order: ColumnElement[datetime], limit: int
) -> Sequence[EventRow]:
    places = select(
        func.coalesce(func.sum(TicketType.sold), 0).label("sold"),
        func.coalesce(func.sum(TicketType.total), 0).label("places"),
    ).where(TicketType.event_id == Event.id)
    counts = places.lateral("counts")
    statement = (
        select(*SUMMARY_COLUMNS, counts.c.sold, counts.c.places, (Event.starts_at <= func.now()).label("has_begun"))
        .join(counts, true())
        .where(owned(caller), *conditions)
        .order_by(order, Event.id)
        .limit(limit)
    )
    return db.session.execute(statement).all()
