"""Reads of events by their organisers and by admins. Public reads are in `discovery` and `public_queries`."""

from typing import Any, TypedDict

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, false, func, inspect, or_, select, true
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_READ
from app.core.db import database_now, db
from app.core.errors import NotFound
from app.events import visibility
from app.events.discovery_sql import EventFilters, filter_conditions, filter_values
from app.events.models import Event
from app.events.ticket_types import find_covering_phase, list_types_outside

OwnEvent = Event
"""An event with its ticket types, as `get_event` returns it."""
ListQuery = Select[Any]
"""A list that the caller sorts and pages."""
OWNED_EVENT_SQL = (
    "(:is_admin OR e.organiser_id = ANY(CAST(:event_scope AS text[])) OR e.id = ANY(CAST(:event_scope AS text[])))"
)
"""`owned` for the event `e`, with the parameters of `ownership_params`. Ids of events and accounts never coincide."""
OWNED_EVENT_DRIVER_SQL = OWNED_EVENT_SQL.replace(":is_admin", "%(is_admin)s").replace(":event_scope", "%(event_scope)s")


class OwnershipParams(TypedDict):
    """The parameters of OWNED_EVENT_SQL."""

    is_admin: bool
    event_scope: str


def ownership_params(caller: Caller) -> OwnershipParams:
    """Return the parameters of OWNED_EVENT_SQL for this caller."""
    return {"is_admin": caller.has_permission_everywhere, "event_scope": caller.event_scope}


IS_DUE = and_(Event.visibility == visibility.DRAFT, Event.publish_at <= func.now())
SUMMARY_COLUMNS = (
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
)
SORTS: dict[str, ColumnElement[Any]] = {
    "starts_at": Event.starts_at.expression,
    "created_at": Event.created_at.expression,
    "name": Event.name.expression,
}


def owned(caller: Caller) -> ColumnElement[bool]:
    """The rule of ownership: the events for which the caller has the permission of the route, and all events for admins
    of its tier and above. `OWNED_EVENT_SQL` is the same in SQL text.
    """
    if caller.has_permission_everywhere:
        return true()
    organisation_ids, event_ids, _ = caller.grant
    in_organisations = Event.organiser_id.in_(organisation_ids)
    return or_(in_organisations, Event.id.in_(event_ids)) if event_ids else in_organisations


def get_event(caller: Caller, id: str) -> Event:
    """An event that the caller may read, with its ticket types. Raises NotFound."""
    event = db.session.scalar(select(Event).where(Event.id == id, owned(caller)))
    if event is None:
        raise NotFound()
    return event


def check_event(caller: Caller, id: str) -> None:
    """Look up an event without reading it. Raises NotFound unless the caller may read it."""
    if db.session.scalar(select(Event.id).where(Event.id == id, owned(caller))) is None:
        raise NotFound()


def check_is_over(caller: Caller, id: str) -> bool:
    """Look up whether an event has ended. Raises NotFound unless the caller may read it."""
    has_ended = db.session.scalar(select(Event.ends_at <= func.now()).where(Event.id == id, owned(caller)))
    if has_ended is None:
        raise NotFound()
    return has_ended


def lock_own_event(session: Session, caller: Caller, id: str) -> Event:
    """An event that the caller may change, locked until the transaction ends. Raises NotFound."""
    event = session.scalar(select(Event).where(Event.id == id, owned(caller)).with_for_update())
    if event is None:
        raise NotFound()
    return event


def is_due(event: Event) -> bool:
    """Whether a draft's time to be published has come, by the database's clock."""
    if event.visibility != visibility.DRAFT or event.publish_at is None:
        return False
    return visibility.is_due(event.visibility, event.publish_at, database_now())


def has_begun_and_ended(event: Event) -> tuple[bool, bool]:
    """Whether the event has begun, and whether it has ended, by the database's clock."""
    now = database_now()
    return event.starts_at <= now, event.ends_at <= now


def is_public(event: Event) -> bool:
    """Whether everybody can open the event's pages."""
    return event.visibility in (visibility.PUBLISHED, visibility.UNLISTED) or is_due(event)


def get_version(event: Event) -> int:
    """The version that readers see. A draft whose time has come is published and has the next one."""
    return event.version + is_due(event)


def lock_for_booking(session: Session, caller: Caller, id: str, *, limited: bool) -> Event:
    """An event that does not change until the transaction, which takes places of it, ends.

    If it has a capacity, or if the places count against another limit of the event (`limited`), one such transaction
    runs at a time (see `capacity`). The ticket types are read after the lock. Raises NotFound.
    """
    own_event = select(Event.capacity).where(Event.id == id, owned(caller))
    row = session.execute(hold_event(own_event)).first()
    if row is None:
        raise NotFound()
    statement = select(Event).where(Event.id == id)
    event: Event = session.scalars(lock_event(statement) if limited or row.capacity is not None else statement).one()
    return event


def hold_event(statement: Select[object]) -> Select[Any]:
    """The statement with FOR KEY SHARE: the event is neither changed nor removed, and holders do not block each
    other."""
    return statement.with_for_update(read=True, key_share=True)


HOLD_EVENT_BY_ID = hold_event(select(Event.id).where(Event.id == bindparam("id")))


def hold(session: Session, id: str) -> None:
    """Keeps an event from being removed until the transaction ends, for rows that refer to it. Raises NotFound if it
    has been removed since it was read."""
    if session.scalar(HOLD_EVENT_BY_ID, {"id": id}) is None:
        raise NotFound()


def lock_event(statement: Select[object]) -> Select[Any]:
    """The statement with FOR NO KEY UPDATE: rows that refer to the event can still be written."""
    return statement.with_for_update(key_share=True)


def serialize_event(caller: Caller, event: Event) -> dict[str, object]:
    """An event as its organiser sees it. A draft whose time has come is published and has the next version.

    The promo codes are None for a caller who may not read the event's money.
    """
    may_read_money = caller.may(MONEY_READ, organisation_id=event.organiser_id, event_id=event.id)
    due = is_due(event)
    columns = [column.key for column in inspect(Event).column_attrs if column.key != "search"]
    return {
        **{name: getattr(event, name) for name in columns},
        "ticket_types": event.ticket_types,
        "promo_codes": event.promo_codes if may_read_money else None,
        "visibility": visibility.PUBLISHED if due else event.visibility,
        "version": event.version + due,
        "currency": "NAD",
        **_build_warnings(event),
    }


def _build_warnings(event: Event) -> dict[str, list[dict[str, str]]]:
    """What was unusual about the event when it was created or last changed, and is allowed; else nothing."""
    warnings = []
    if event.ends_at <= event.updated_at:
        message = "The event ended before it was saved: it takes no applications, and its links do not work."
        warnings.append({"path": "endDate", "code": "event_is_over", "message": message})
    elif event.starts_at <= event.updated_at:
        message = "The event began before it was saved: check when it starts."
        warnings.append({"path": "startDate", "code": "event_has_begun", "message": message})
    for index in list_types_outside(event):
        message = "The gate admits this ticket type only before the event begins, or after it ends."
        warnings.append({"path": f"ticketTypes[{index}]", "code": "type_outside_event", "message": message})
    for index, ticket_type in enumerate(event.ticket_types):
        for position in range(len(ticket_type.phases)):
            covering = find_covering_phase(ticket_type.phases, position)
            if covering is not None:
                path = f"ticketTypes[{index}].phases[{position}]"
                message = (
                    f"The phase never applies: {covering.name} comes before it, without a limit, at the same time."
                )
                warnings.append({"path": path, "code": "phase_never_applies", "message": message})
    return {"warnings": warnings} if warnings else {}


def list_events_query(
    caller: Caller | None, filters: EventFilters, *, mine: bool = False, visibility_filter: str | None = None
) -> ListQuery:
    """Listed events that match the filters; with `mine` the caller's own in every state (for an admin, all)."""
    statement = select(*SUMMARY_COLUMNS)
    values = filter_values(filters)
    if values is None:
        return statement.where(false())
    statement = statement.where(*filter_conditions(values)).params(values)
    if filters.since is not None:
        statement = statement.where(Event.starts_at >= filters.since)
    if mine and caller is not None:
        statement = statement.where(owned(caller))
        return statement if visibility_filter is None else statement.where(_has_visibility(visibility_filter))
    statement = statement.where(visibility.in_lists())
    return statement if filters.since is not None else statement.where(Event.ends_at > func.now())


def list_present_events(caller: Caller) -> list[tuple[str, str]]:
    """Id and name of the caller's events that are not over, the next first; 100 at most."""
    statement = select(Event.id, Event.name).where(owned(caller), Event.ends_at > func.now())
    return [(id, name) for id, name in db.session.execute(statement.order_by(Event.starts_at).limit(100))]


def list_event_names(caller: Caller) -> list[tuple[str, str]]:
    """Id and name of the caller's events, the latest first; 500 at most."""
    statement = select(Event.id, Event.name).where(owned(caller)).order_by(Event.starts_at.desc(), Event.id).limit(500)
    return [(id, name) for id, name in db.session.execute(statement)]


def _has_visibility(value: str) -> ColumnElement[bool]:
    if value == visibility.PUBLISHED:
        return or_(Event.visibility == value, IS_DUE)
    return and_(Event.visibility == value, or_(Event.visibility != visibility.DRAFT, ~func.coalesce(IS_DUE, False)))
