"""Rules across the fields of an event. All problems are reported together, by the names of the domain.

The members of stored JSON (promo codes, line-up …) have the names of the API.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from app.core.errors import ValidationFailed
from app.core.text_normalization import to_camel_case
from app.events.models import Event, StoredObject
from app.events.search_words import key_of
from app.events.visibility import DRAFT, PUBLISHED, UNLISTED

CATEGORIES = ("music", "food", "arts", "sport", "business", "community", "family", "other")
Problem = dict[str, str]
Fields = Mapping[str, Any]
ACT_TIMES = {"startsAt": "starts_at", "endsAt": "ends_at"}
END_BEFORE_START = "The end must be after the start."


def check_event(
    event: Event, changes: Fields, now: datetime, previous_lineup: Sequence[StoredObject] | None = None
) -> None:
    """Raises ValidationFailed when the fields of the event, with the changes applied, contradict each other.

    With `previous_lineup` also for times of acts outside the event that were not in it.
    """
    problems = [*_check_times(event, changes, now), *_check_ticket_types(changes.get("ticket_types") or [])]
    problems += _check_periods("lineup", event.lineup)
    if previous_lineup is not None:
        problems += _check_act_times(event, previous_lineup)
    problems += _check_periods("promo_codes", event.promo_codes)
    problems += _check_periods("promotion", [event.promotion or {}])
    problems += _check_unique("promo_codes", "code", [promo_code["code"] for promo_code in event.promo_codes])
    problems += _check_unique(
        "bulk_discounts", "min_quantity", [discount["minQuantity"] for discount in event.bulk_discounts]
    )
    problems += _check_unique(
        "payment_method_discounts", "slug", [discount["slug"] for discount in event.payment_method_discounts]
    )
    # Only a list that is sent: events of earlier versions may have a name twice.
    problems += _check_unique("stall_types", "name", [type_["name"] for type_ in changes.get("stall_types") or []])
    if problems:
        raise ValidationFailed(problems)


def find_times_outside(event: Event) -> list[tuple[int, str]]:
    """The times of acts before or after the event: the index of each act, and the name of the time in the API."""
    return [
        (index, name)
        for index, entry in enumerate(event.lineup)
        for name in ACT_TIMES
        if entry.get(name) and not event.starts_at <= datetime.fromisoformat(entry[name]) <= event.ends_at
    ]


def check_promo_targets(event: Event) -> None:
    """Raises ValidationFailed when a promo code is for a ticket type that the event does not have."""
    known = {ticket_type.id for ticket_type in event.ticket_types}
    problems = [
        _problem(f"promo_codes[{index}].ticket_type_ids", "unknown_value", "Names a ticket type that is not there.")
        for index, promo_code in enumerate(event.promo_codes)
        if set(promo_code.get("ticketTypeIds", ())) - known
    ]
    if problems:
        raise ValidationFailed(problems)


def _check_times(event: Event, changes: Fields, now: datetime) -> Iterator[Problem]:
    if event.ends_at <= event.starts_at:
        path = "ends_at" if "ends_at" in changes or "starts_at" not in changes else "starts_at"
        yield _problem(path, "contradiction", END_BEFORE_START)
    if event.sales_end_at is not None and event.sales_end_at > event.ends_at:
        yield _build_end_problem("sales_end_at", changes, "Sales must end no later than the event.")
    if event.applications_end_at is not None and event.applications_end_at > event.ends_at:
        yield _build_end_problem("applications_end_at", changes, "Applications must end no later than the event.")
    if changes.get("publish_at") is not None:
        yield from _check_publishing(event, changes["publish_at"], now)


def _build_end_problem(name: str, changes: Fields, message: str) -> Problem:
    """The problem of an end that is after the event: at the end itself, or at that of the event, if only this changed."""
    if name in changes:
        return _problem(name, "contradiction", message)
    return _problem("ends_at", "contradiction", f"{message} Send another {to_camel_case(name)} too, or null.")


def _check_publishing(event: Event, publish_at: datetime, now: datetime) -> Iterator[Problem]:
    if event.visibility == DRAFT and publish_at <= now:
        yield _problem("publish_at", "not_in_future", "Must be in the future; to publish now, set visibility.")
    elif event.visibility in (PUBLISHED, UNLISTED) and publish_at > now:
        yield _problem("publish_at", "contradiction", "It is public already; to publish it later, keep it a draft.")


def _check_ticket_types(types: Sequence[Fields]) -> Iterator[Problem]:
    yield from _check_unique("ticket_types", "name", [key_of(type_["name"]) for type_ in types])
    yield from _check_unique("ticket_types", "id", [type_.get("id") or object() for type_ in types])
    for index, type_ in enumerate(types):
        path = f"ticket_types[{index}]"
        low, high = type_.get("min_per_order"), type_.get("max_per_order")
        if low is not None and high is not None and high < low:
            yield _problem(f"{path}.max_per_order", "contradiction", "Must be at least minPerOrder.")
        start, end = type_.get("valid_from"), type_.get("valid_until")
        if start is not None and end is not None and end <= start:
            yield _problem(f"{path}.valid_until", "contradiction", END_BEFORE_START)
        for position, phase in enumerate(type_.get("phases") or []):
            start, end = phase.get("starts_at"), phase.get("ends_at")
            if start is not None and end is not None and end <= start:
                yield _problem(f"{path}.phases[{position}].ends_at", "contradiction", END_BEFORE_START)


def _check_periods(name: str, entries: Sequence[StoredObject]) -> Iterator[Problem]:
    for index, entry in enumerate(entries):
        start, end = entry.get("startsAt"), entry.get("endsAt")
        if start and end and end <= start:
            path = f"{name}.ends_at" if name == "promotion" else f"{name}[{index}].ends_at"
            yield _problem(path, "contradiction", END_BEFORE_START)


def _check_act_times(event: Event, previous_lineup: Sequence[StoredObject]) -> Iterator[Problem]:
    # Times that were in the line-up before stay: the event may have moved since.
    previous_times = {(name, entry.get(name)) for entry in previous_lineup for name in ACT_TIMES}
    for index, name in find_times_outside(event):
        if (name, event.lineup[index][name]) not in previous_times:
            yield _problem(f"lineup[{index}].{ACT_TIMES[name]}", "outside_event", "Must be during the event.")


def _check_unique(name: str, member: str, values: Sequence[Hashable]) -> Iterator[Problem]:
    seen: set[Hashable] = set()
    for index, value in enumerate(values):
        key = value.casefold() if isinstance(value, str) else value
        if key in seen:
            yield _problem(f"{name}[{index}].{member}", "duplicate", "Occurs twice in the list.")
        seen.add(key)


def _problem(path: str, code: str, message: str) -> Problem:
    return {"path": path, "code": code, "message": message}
