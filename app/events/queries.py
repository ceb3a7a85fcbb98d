"""Reads of events, always through the owner; what the public reads stands in `discovery` and `public`."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, false, func, inspect, or_, select, true
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.core.db import database_now, db
from app.core.errors import NotFound
from app.events import visibility
from app.events.filters import active_filters, conditions
from app.events.models import Event

READS, WRITES = "analyst", "admin"
IS_DUE = and_(Event.visibility == visibility.DRAFT, Event.publish_at <= func.now())
ROW: list[Any] = [
    Event.id,
    Event.name,
    Event.city,
    Event.venue,
    Event.country,
    Event.timezone,
    Event.starts_at,
    Event.ends_at,
    Event.category,
    Event.is_cashless,
    Event.publish_at,
    func.coalesce(Event.cover_image_url, "").label("cover_image_url"),
    case((IS_DUE, visibility.PUBLISHED), else_=Event.visibility).label("visibility"),
    (Event.version + case((IS_DUE, 1), else_=0)).label("version"),
]
SORTS: dict[str, Any] = {"startsAt": Event.starts_at, "createdAt": Event.created_at, "name": Event.name}


def owned(caller: Caller, tier: str) -> ColumnElement[bool]:
    """The rule of ownership: an organiser's own events, and all for admins of that tier and above."""
    return true() if caller.has_tier(tier) else Event.organiser_id == caller.id


def event(caller: Caller, id: str) -> Event:
    """One event with its ticket types. Raises NotFound, also for somebody else's."""
    value = db.session.scalar(select(Event).where(Event.id == id, owned(caller, READS)))
    if value is None:
        raise NotFound()
    return value


def locked(session: Session, caller: Caller, id: str) -> Event:
    """The same inside a transaction, locked, for anyone who may change it."""
    value = session.scalar(select(Event).where(Event.id == id, owned(caller, WRITES)).with_for_update())
    if value is None:
        raise NotFound()
    return value


def is_due(result: Event) -> bool:
    """Whether an event is a draft whose moment to be published has come, by the database's clock."""
    if result.visibility != visibility.DRAFT or result.publish_at is None:
        return False
    return visibility.is_due(result.visibility, result.publish_at, database_now())


def lock_for_booking(session: Session, caller: Caller, id: str, *, limited: bool) -> Event:
    """An event inside a transaction that takes places of it: it stays as it is until that ends.

    With a capacity, or where `limited` says that the places count against another limit of the event, one such
    transaction at a time (see `capacity`). Its ticket types are read after the lock is held. Raises NotFound, also for
    somebody else's.
    """
    mine = select(Event.capacity).where(Event.id == id, owned(caller, WRITES))
    held = session.execute(hold_event(mine)).first()
    if held is None:
        raise NotFound()
    statement = select(Event).where(Event.id == id)
    result: Event = session.scalars(lock_event(statement) if limited or held.capacity is not None else statement).one()
    return result


def hold_event(statement: Select[Any]) -> Select[Any]:
    """FOR KEY SHARE: nobody changes or removes the event meanwhile, and those who only hold it do not wait."""
    return statement.with_for_update(read=True, key_share=True)


def hold(session: Session, id: str) -> None:
    """Keeps an event from being removed until the transaction ends, for rows that point at it. Raises NotFound when it
    has been removed since it was read."""
    if session.scalar(hold_event(select(Event.id).where(Event.id == id))) is None:
        raise NotFound()


def lock_event(statement: Select[Any]) -> Select[Any]:
    """FOR NO KEY UPDATE: rows that point at the event can still be written."""
    return statement.with_for_update(key_share=True)


def serialize_event(result: Event) -> dict[str, Any]:
    """An event as its organiser sees it: a draft whose moment has come is published, and one version on."""
    due = is_due(result)
    return {
        **{
            column_attr.key: getattr(result, column_attr.key)
            for column_attr in inspect(Event).column_attrs
            if column_attr.key != "search"
        },
        "ticket_types": result.ticket_types,
        "visibility": visibility.PUBLISHED if due else result.visibility,
        "version": result.version + due,
        "currency": "NAD",
    }


def list_events_query(caller: Caller | None, *, mine: bool = False, **filters: Any) -> Select[Any]:
    """Published events that match the filters; with `mine` the caller's own in every state (an admin's are all)."""
    statement = select(*ROW)
    state = filters.pop("visibility", None)
    values = active_filters(filters)
    if values is None:
        return statement.where(false())
    statement = statement.where(*conditions(values)).params(values)
    if "since" in values:
        statement = statement.where(Event.starts_at >= values["since"])
    if not mine or caller is None:
        return statement.where(visibility.in_lists(), *([] if "since" in values else [Event.ends_at > func.now()]))
    return statement.where(owned(caller, READS), *([_in_state(state)] if state else []))


def _in_state(state: str) -> ColumnElement[bool]:
    if state == visibility.PUBLISHED:
        return or_(Event.visibility == state, IS_DUE)
    return and_(Event.visibility == state, or_(Event.visibility != visibility.DRAFT, ~func.coalesce(IS_DUE, False)))
