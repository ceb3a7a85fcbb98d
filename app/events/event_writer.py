"""Applying fields to an event inside a transaction; creating and changing share it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.errors import EmailNotVerified
from app.core.cache_invalidation import invalidate
from app.core.clock import rfc3339
from app.core.db import database_now
from app.events import capacity, queries, search, ticket_types, validation, visibility
from app.events.errors import NotPublishable, VisibilityNotReachable
from app.events.models import Event
from app.events.time_conversion import to_instant
from app.events.timezones import notify_timezone_change
from app.events.visibility import DRAFT, PUBLISHED, UNLISTED

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


def apply_changes(session: Session, event: Event, caller: Caller, fields: Mapping[str, Any]) -> bool:
    """Applies `fields` to the event; returns whether anything changed.

    Raises ValidationFailed, CapacityCommitted, TicketsCommitted, NotPublishable, EmailNotVerified,
    VisibilityNotReachable.
    """
    now, previous_capacity, previous_zone = database_now(), event.capacity, event.timezone
    changes = resolve_times(fields, fields.get("timezone") or event.timezone)
    _assign(event, changes)
    validation.check_event(event, changes, now)
    session.add(event)
    modified = session.is_modified(event)
    if "ticket_types" in changes:
        session.flush()
        modified = ticket_types.replace_ticket_types(session, event, changes["ticket_types"] or []) or modified
    if "capacity" in changes:
        capacity.check_change(event, previous_capacity)
    validation.check_promo_targets(event)
    if event.visibility in (PUBLISHED, UNLISTED) or (event.visibility == DRAFT and event.publish_at is not None):
        _check_publishable(event, caller, publishes=not changes.keys().isdisjoint({"visibility", "publish_at"}))
    if event.timezone != previous_zone:
        session.flush()
        notify_timezone_change(session, event.id, event.timezone)
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
        elif name != "ticket_types":
            setattr(event, name, [] if value is None and name in LISTS else value)
    event.city_key = search.key_of(event.city)
    event.search_text = search.search_text(
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
    event.visibility = target


def _check_publishable(event: Event, caller: Caller, *, publishes: bool) -> None:
    if publishes and not caller.email_verified:
        raise EmailNotVerified()
    required = {
        "name": event.name,
        "venue": event.venue,
        "city": event.city,
        "starts_at": event.starts_at,
        "ends_at": event.ends_at,
        "ticket_types": event.ticket_types or event.capacity,
    }
    missing = [name for name, value in required.items() if not value]
    if missing:
        raise NotPublishable("The event needs a ticket type or a capacity before it can be published.", missing=missing)
