"""Creating, changing and removing an event. Creating and changing apply fields by the same code."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypedDict

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.errors import EmailNotVerified
from app.accounts.quotas import EVENTS_QUOTA, count_unverified_use
from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.clock import rfc3339
from app.core.db import database_now
from app.core.errors import StaleVersion
from app.core.ids import new_id
from app.core.languages import mark_for_translation
from app.core.transaction import transaction
from app.events import capacity, countries, queries, search_words, ticket_types, validation, visibility
from app.events.errors import NotPublishable, VisibilityNotReachable
from app.events.event_changes import build_schedule, notify_event_move
from app.events.event_entries import record_changes, take_snapshot
from app.events.models import Event
from app.events.slugs import assign_slug
from app.events.sql import FORGET_ENTRY_DAYS
from app.events.stall_type_uses import check_removed_types
from app.events.timezones import to_instant
from app.events.visibility import ARCHIVED, CANCELLED, DRAFT, PUBLISHED, UNLISTED


class RemovedEvent(TypedDict):
    """The id of a removed event, and whether it was deleted or only cancelled."""

    id: str
    outcome: Literal["deleted", "cancelled"]


def create_event(*, caller: Caller, **fields: Any) -> Event:
    """The new event of this organiser: a draft, unless `visibility` says otherwise.

    Raises ValidationFailed, SlugTaken, NotPublishable, EmailNotVerified, VisibilityNotReachable.
    """
    zone = fields.pop("timezone", None) or countries.main_zone(fields["country"])
    event = build_draft(caller.organisation_id, zone)
    with transaction() as session:
        count_unverified_use(session, caller, EVENTS_QUOTA)
        apply_changes(session, event, caller, fields)
        session.flush()
        _record(session, Action.EVENT_CREATED, event)
        _record_visibility(session, event, DRAFT)
    return event


def build_draft(organiser_id: str, zone: str) -> Event:
    """An event without facts, which is not stored yet."""
    lists: dict[str, Any] = {name: [] for name in LISTS}
    return Event(id=new_id(), organiser_id=organiser_id, visibility=DRAFT, timezone=zone, ticket_types=[], **lists)


def change_event(
    *, caller: Caller, id: str, expected_version: int | None, checks_act_times: bool = False, **fields: Any
) -> Event:
    """The event with these fields changed; other fields stay. With `checks_act_times` new times of acts are during it.

    Raises NotFound, StaleVersion, ValidationFailed, SlugTaken, TicketsCommitted, StallTypeInUse, NotPublishable,
    EmailNotVerified, VisibilityNotReachable.
    """
    with transaction() as session:
        event = queries.lock_own_event(session, caller, id)
        publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        previous_visibility, previous_schedule, before = event.visibility, build_schedule(event), take_snapshot(event)
        if apply_changes(session, event, caller, fields, checks_act_times=checks_act_times):
            event.version += 1
        notify_event_move(session, event, previous_schedule)
        record_changes(session, event, before)
        _record_visibility(session, event, previous_visibility)
    return event


def remove_event(*, caller: Caller, id: str, expected_version: int | None) -> RemovedEvent:
    """Deletes an event that no other row refers to, and cancels any other.

    Raises NotFound, StaleVersion.
    """
    with transaction() as session:
        event = queries.lock_own_event(session, caller, id)
        publish_if_due(event)
        if expected_version not in (None, event.version):
            raise StaleVersion()
        invalidate(session, CATALOGUE)
        if _try_delete(session, event):
            _record(session, Action.EVENT_DELETED, event)
            return {"id": id, "outcome": "deleted"}
        if event.visibility != CANCELLED:
            _change_visibility(event, CANCELLED)
            event.version += 1
            _record(session, Action.EVENT_CANCELLED, event)
    return {"id": id, "outcome": "cancelled"}


ACTION_BY_VISIBILITY = {
    PUBLISHED: Action.EVENT_PUBLISHED,
    UNLISTED: Action.EVENT_PUBLISHED,
    CANCELLED: Action.EVENT_CANCELLED,
    ARCHIVED: Action.EVENT_ARCHIVED,
}


def _record_visibility(session: Session, event: Event, previous: str) -> None:
    """Records a new visibility. `publish_at` publishes an event without an act: setting it is recorded as a change."""
    action = ACTION_BY_VISIBILITY.get(event.visibility)
    if event.visibility != previous and action is not None:
        _record(session, action, event, visibility=event.visibility)


def _record(session: Session, action: Action, event: Event, **data: object) -> None:
    record(session, action, organisation_id=event.organiser_id, event_id=event.id, subject=event.id, data=data)


def _try_delete(session: Session, event: Event) -> bool:
    """Deletes the event; False when the foreign key of a ticket, an allocation or another row refuses it."""
    try:
        with session.begin_nested():
            session.execute(delete(Event).where(Event.id == event.id))
    except IntegrityError:
        return False
    session.expunge(event)
    return True


LISTS = (
    "keywords",
    "allowed_payment_option_slugs",
    "promo_codes",
    "bulk_discounts",
    "payment_method_discounts",
    "sponsors",
    "stall_types",
    "tables",
    "lineup",
)
CATALOGUE = "events"
_STORED_AS_JSON = frozenset({*LISTS, "promotion"})


def apply_changes(
    session: Session, event: Event, caller: Caller, fields: Mapping[str, Any], *, checks_act_times: bool = False
) -> bool:
    """Applies `fields` to the event; returns whether anything changed.

    Raises ValidationFailed, SlugTaken, CapacityCommitted, TicketsCommitted, StallTypeInUse, NotPublishable,
    EmailNotVerified, VisibilityNotReachable.
    """
    now, previous_capacity, previous_timezone = database_now(), event.capacity, event.timezone
    previous_stall_types, previous_lineup = event.stall_types, event.lineup
    changes = resolve_times(fields, fields.get("timezone") or event.timezone)
    _assign(event, changes)
    validation.check_event(event, changes, now, previous_lineup if checks_act_times else None)
    chosen = changes.get("slug")
    if event.slug is None or (chosen is not None and chosen != event.slug):
        event.slug = assign_slug(session, event_id=event.id, name=event.name, chosen=chosen)
    session.add(event)
    modified = session.is_modified(event)
    if "ticket_types" in changes:
        session.flush()
        modified = ticket_types.replace_ticket_types(session, event, changes["ticket_types"] or []) or modified
    if "capacity" in changes:
        capacity.check_change(event, previous_capacity)
    if event.timezone != previous_timezone:
        session.execute(FORGET_ENTRY_DAYS, {"event": event.id})
    if "stall_types" in changes:
        check_removed_types(session, event.id, previous_stall_types, event.stall_types)
    validation.check_promo_targets(event)
    if event.visibility in (PUBLISHED, UNLISTED) or (event.visibility == DRAFT and event.publish_at is not None):
        _check_publishable(event, caller, publishes=not changes.keys().isdisjoint({"visibility", "publish_at"}))
    invalidate(session, CATALOGUE)
    return modified


def resolve_times(value: object, zone: str, *, as_text: bool = False) -> Any:
    """The same value with every time as a UTC instant; inside stored JSON, as text."""
    if isinstance(value, datetime):
        instant = to_instant(value, zone)
        return rfc3339(instant) if as_text else instant
    if isinstance(value, Mapping):
        return {
            name: resolve_times(member, zone, as_text=as_text or name in _STORED_AS_JSON)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [resolve_times(member, zone, as_text=as_text) for member in value]
    return value


def publish_if_due(event: Event) -> None:
    """Stores what readers see already: a draft whose time has come is published, one version on."""
    if queries.is_due(event):
        event.visibility = PUBLISHED
        event.version += 1


def _assign(event: Event, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if name == "visibility":
            _change_visibility(event, value)
        elif name not in ("ticket_types", "slug"):
            setattr(event, name, [] if value is None and name in LISTS else value)
    event.city_key = search_words.key_of(event.city)
    event.search_text = search_words.search_text(
        name=event.name,
        others=[event.city, event.venue, *(entry["name"] for entry in event.lineup), *event.keywords],
    )


def _change_visibility(event: Event, target: str) -> None:
    if not visibility.reachable(event.visibility, target):
        raise VisibilityNotReachable(
            f"An event that is {event.visibility} cannot become {target}.",
            visibility=event.visibility,
            reachable=sorted(visibility.STEPS[event.visibility]),
        )
    if target == CANCELLED and event.visibility in (PUBLISHED, UNLISTED):
        event.was_public = True
    event.visibility = target


def _check_publishable(event: Event, caller: Caller, *, publishes: bool) -> None:
    if publishes and not caller.email_verified:
        raise EmailNotVerified()
    missing = list_missing_facts(event)
    if missing:
        raise NotPublishable(
            mark_for_translation("The event needs a ticket type or a capacity before it can be published."),
            missing=missing,
        )


def list_missing_facts(event: Event) -> list[str]:
    """What the event needs before it can be published; `ticket_types` stands for these or a capacity."""
    required = {
        "name": event.name,
        "venue": event.venue,
        "city": event.city,
        "starts_at": event.starts_at,
        "ends_at": event.ends_at,
        "ticket_types": event.ticket_types or event.capacity,
    }
    return [name for name, value in required.items() if not value]
