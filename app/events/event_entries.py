"""Entries of the audit trail for what was changed in an event: its facts, ticket types, stall types and promo codes.

    before = take_snapshot(event)
    …
    record_changes(session, event, before)

An entry has in `fields` what is different, and in `from` and `to` the values, but for long texts and lists. Promo codes
are only counted: not everybody who reads the audit trail may see them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.log import record
from app.core.clock import rfc3339
from app.core.text_normalization import to_camel_case
from app.events import ticket_types
from app.events.models import Event

Facts = Mapping[str, Any]
FIELDS_WITH_VALUES = frozenset(
    {
        "name",
        "slug",
        "venue",
        "city",
        "country",
        "latitude",
        "longitude",
        "timezone",
        "startsAt",
        "endsAt",
        "salesEndAt",
        "applicationsEndAt",
        "publishAt",
        "reentry",
        "capacity",
        "category",
        "isCashless",
        "priceMinor",
        "quantity",
        "minPerOrder",
        "maxPerOrder",
        "validFrom",
        "validUntil",
        "phases",
        "feeMinor",
    }
)
"""What an entry has the values of; of the other fields it has the names."""
FIELDS_WITHOUT_ENTRY = frozenset(
    {
        "id",
        "organiser_id",
        "city_key",
        "public_from",
        "search",
        "search_text",
        "visibility",
        "version",
        "created_at",
        "updated_at",
        "stall_types",
        "promo_codes",
    }
)
"""Columns of an event that nobody changes, or that have entries of their own."""


class EventSnapshot(NamedTuple):
    """What can be changed in an event, at one moment. Types and codes are by their id, name or code."""

    facts: Facts
    ticket_types: Mapping[str, Facts]
    stall_types: Mapping[str, Facts]
    promo_codes: Mapping[str, Facts]


def take_snapshot(event: Event) -> EventSnapshot:
    """The event as it is now, for `record_changes`."""
    columns = [column.key for column in inspect(Event).column_attrs if column.key not in FIELDS_WITHOUT_ENTRY]
    return EventSnapshot(
        {to_camel_case(name): getattr(event, name) for name in columns},
        {fields["id"]: _build_type_facts(fields) for fields in ticket_types.list_type_fields(event)},
        {stored["name"].casefold(): _without_empty(stored) for stored in event.stall_types},
        {stored["code"]: _without_empty(stored) for stored in event.promo_codes},
    )


def record_changes(session: Session, event: Event, before: EventSnapshot) -> None:
    """Adds an entry for the facts that differ from the snapshot, for each type that does, and for the promo codes."""
    after = take_snapshot(event)
    if before.facts != after.facts:
        _record(session, Action.EVENT_CHANGED, event, event.id, _describe_change(before.facts, after.facts))
    _record_types(session, event, _TICKET_TYPE_ACTIONS, before.ticket_types, after.ticket_types, has_ids=True)
    _record_types(session, event, _STALL_TYPE_ACTIONS, *_pair_renamed(before.stall_types, after.stall_types))
    old_codes, new_codes = before.promo_codes, after.promo_codes
    if old_codes != new_codes:
        both = old_codes.keys() & new_codes.keys()
        counts = {
            "added": len(new_codes.keys() - both),
            "changed": sum(old_codes[code] != new_codes[code] for code in both),
            "removed": len(old_codes.keys() - both),
        }
        if any(counts.values()):
            _record(session, Action.PROMO_CODES_CHANGED, event, event.id, counts)


class _TypeActions(NamedTuple):
    created: Action
    changed: Action
    removed: Action


_TICKET_TYPE_ACTIONS = _TypeActions(Action.TICKET_TYPE_CREATED, Action.TICKET_TYPE_CHANGED, Action.TICKET_TYPE_REMOVED)
_STALL_TYPE_ACTIONS = _TypeActions(Action.STALL_TYPE_CREATED, Action.STALL_TYPE_CHANGED, Action.STALL_TYPE_REMOVED)


def _record_types(
    session: Session,
    event: Event,
    actions: _TypeActions,
    before: Mapping[str, Facts],
    after: Mapping[str, Facts],
    *,
    has_ids: bool = False,
) -> None:
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        action = actions.created if old is None else actions.removed if new is None else actions.changed
        name = (new or old or {})["name"]
        data = {"name": name, **_describe_change(old or {"name": name}, new or {"name": name})}
        _record(session, action, event, key if has_ids else None, data)


def _pair_renamed(
    before: Mapping[str, Facts], after: Mapping[str, Facts]
) -> tuple[Mapping[str, Facts], Mapping[str, Facts]]:
    """The same types, with those at the same place under one key: such a type has got another name."""
    new_keys = {
        new: old
        for old, new in zip(before, after, strict=False)
        if old != new and old not in after and new not in before
    }
    return before, {new_keys.get(key, key): facts for key, facts in after.items()}


def _build_type_facts(fields: Facts) -> dict[str, Any]:
    """A ticket type with the names of the API, without its id."""
    phases = [
        _without_empty({to_camel_case(name): value for name, value in phase.items()}) for phase in fields["phases"]
    ]
    facts = {to_camel_case(name): value for name, value in fields.items() if name != "id"}
    return _without_empty({**facts, "phases": phases or None})


def _describe_change(before: Facts, after: Facts) -> dict[str, Any]:
    fields = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    short_fields = [name for name in fields if name in FIELDS_WITH_VALUES]
    return {
        "fields": fields,
        "from": _without_empty({name: _to_json(before.get(name)) for name in short_fields}),
        "to": _without_empty({name: _to_json(after.get(name)) for name in short_fields}),
    }


def _record(session: Session, action: Action, event: Event, subject: str | None, data: Facts) -> None:
    record(session, action, organisation_id=event.organiser_id, event_id=event.id, subject=subject, data=data)


def _without_empty(facts: Facts) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _to_json(value: object) -> object:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, Mapping):
        return {name: _to_json(member) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_to_json(member) for member in value]
    return value
