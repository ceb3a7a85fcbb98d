"""Putting what was sent into an event, inside a transaction: what creating and changing share."""

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


def apply_changes(
    session: Session, event: Event, caller: Caller, fields: Mapping[str, Any], said: Mapping[str, str]
) -> bool:
    """Makes the event what `fields` say; whether anything changed. Raises what refuses it."""
    now, capacity_before, zone_before = database_now(), event.capacity, event.timezone
    sent = resolve_times(fields, fields.get("timezone") or event.timezone)
    _assign(event, sent)
    validation.find_problems(event, sent, said, now)
    session.add(event)
    modified = session.is_modified(event)
    if "ticket_types" in sent:
        session.flush()
        modified = ticket_types.put(session, event, sent["ticket_types"] or []) or modified
    if "capacity" in sent:
        capacity.check_change(event, capacity_before)
    validation.check_promo_targets(event)
    if event.visibility in (PUBLISHED, UNLISTED) or (event.visibility == DRAFT and event.publish_at is not None):
        _check_publishable(event, caller, items={"visibility", "publish_at"} & set(sent))
    if event.timezone != zone_before:
        session.flush()
        notify_timezone_change(session, event.id, event.timezone)
    invalidate(session, CATALOGUE)
    return modified


def resolve_times(value: Any, zone: str, *, stored: bool = False) -> Any:
    """The same with every time as a UTC instant; inside stored JSON, as text."""
    if isinstance(value, datetime):
        moment = to_instant(value, zone)
        return rfc3339(moment) if stored else moment
    if isinstance(value, Mapping):
        return {name: resolve_times(inner, zone, stored=stored or name in _STORED) for name, inner in value.items()}
    if isinstance(value, list):
        return [resolve_times(inner, zone, stored=stored) for inner in value]
    return value


_STORED = frozenset({*LISTS, "promotion"})


def publish_if_due(event: Event) -> None:
    """Makes a draft whose moment has come what everybody sees it as already: published, one version on."""
    if queries.is_due(event):
        event.visibility = PUBLISHED
        event.version += 1


def _assign(event: Event, sent: Mapping[str, Any]) -> None:
    for name, value in sent.items():
        if name == "visibility":
            _change_visibility(event, value)
        elif name != "ticket_types":
            setattr(event, name, [] if value is None and name in LISTS else value)
    event.city_key = search.key_of(event.city)
    event.search_text = search.search_text(
        name=event.name,
        others=[event.city, event.venue, *(item["name"] for item in event.lineup), *event.keywords],
    )


def _change_visibility(event: Event, result: str) -> None:
    if not visibility.reachable(event.visibility, result):
        raise VisibilityNotReachable(
            f"An event that is {event.visibility} cannot become {result}.",
            visibility=event.visibility,
            reachable=sorted(visibility.STEPS[event.visibility]),
        )
    event.visibility = result


def _check_publishable(event: Event, caller: Caller, *, items: set[str]) -> None:
    if items and not caller.email_verified:
        raise EmailNotVerified()
    needed = {
        "name": event.name,
        "venue": event.venue,
        "city": event.city,
        "startsAt": event.starts_at,
        "endsAt": event.ends_at,
        "ticketTypes": event.ticket_types or event.capacity,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise NotPublishable("The event needs a ticket type or a capacity before it can be published.", missing=missing)
