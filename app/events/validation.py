"""What must hold across the fields of an event; every problem at once, under the names that were sent."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from app.core.errors import ValidationFailed
from app.events.models import Event
from app.events.search import key_of
from app.events.visibility import DRAFT, PUBLISHED, UNLISTED

Problem = dict[str, str]


def find_problems(event: Event, sent: Mapping[str, Any], said: Mapping[str, str], now: datetime) -> None:
    """Raises ValidationFailed when the event, as it would become, contradicts itself."""
    problems = [*_check_times(event, sent, said, now), *_check_ticket_types(sent.get("ticket_types") or [])]
    problems += _check_periods("lineup", event.lineup)
    problems += _check_periods("promoCodes", event.promo_codes)
    problems += _check_periods("promotion", [event.promotion or {}])
    problems += _check_unique("promoCodes", "code", [promo_code["code"] for promo_code in event.promo_codes])
    problems += _check_unique(
        "bulkDiscounts", "minQuantity", [bulk_discount["minQuantity"] for bulk_discount in event.bulk_discounts]
    )
    problems += _check_unique(
        "paymentMethodDiscounts",
        "slug",
        [payment_method_discount["slug"] for payment_method_discount in event.payment_method_discounts],
    )
    if problems:
        raise ValidationFailed(problems)


def check_promo_targets(event: Event) -> None:
    """Raises ValidationFailed when a promo code is for a ticket type that the event does not have."""
    known = {ticket_type.id for ticket_type in event.ticket_types}
    problems = [
        _problem(f"promoCodes[{index}].ticketTypeIds", "unknown_value", "Names a ticket type that is not there.")
        for index, code in enumerate(event.promo_codes)
        if set(code.get("ticketTypeIds", ())) - known
    ]
    if problems:
        raise ValidationFailed(problems)


def _check_times(event: Event, sent: Mapping[str, Any], said: Mapping[str, str], now: datetime) -> Iterator[Problem]:
    if event.ends_at <= event.starts_at:
        at_end = "ends_at" in sent or "starts_at" not in sent
        name = said.get("endsAt", "endsAt") if at_end else said.get("startsAt", "startsAt")
        yield _problem(name, "contradiction", "The end must be after the start.")
    if event.sales_end_at is not None and event.sales_end_at > event.ends_at:
        name = "salesEndAt" if "sales_end_at" in sent else said.get("endsAt", "endsAt")
        yield _problem(name, "contradiction", "Sales must end no later than the event.")
    if sent.get("publish_at") is not None:
        yield from _check_publishing(event, sent["publish_at"], now)


def _check_publishing(event: Event, moment: datetime, now: datetime) -> Iterator[Problem]:
    if event.visibility == DRAFT and moment <= now:
        yield _problem("publishAt", "not_in_future", "Must be in the future; to publish now, set visibility.")
    elif event.visibility in (PUBLISHED, UNLISTED) and moment > now:
        yield _problem("publishAt", "contradiction", "It is public already; to publish it later, keep it a draft.")


def _check_ticket_types(types: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    yield from _check_unique("ticketTypes", "name", [key_of(type_["name"]) for type_ in types])
    yield from _check_unique("ticketTypes", "id", [type_.get("id") or object() for type_ in types])
    for index, item in enumerate(types):
        path = f"ticketTypes[{index}]"
        low, high = item.get("min_per_order"), item.get("max_per_order")
        if low is not None and high is not None and high < low:
            yield _problem(f"{path}.maxPerOrder", "contradiction", "Must be at least minPerOrder.")
        for position, phase in enumerate(item.get("phases") or []):
            start, end = phase.get("starts_at"), phase.get("ends_at")
            if start is not None and end is not None and end <= start:
                yield _problem(f"{path}.phases[{position}].endsAt", "contradiction", "The end must be after the start.")


def _check_periods(name: str, entries: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    for index, item in enumerate(entries):
        start, end = item.get("startsAt"), item.get("endsAt")
        if start and end and end <= start:
            path = f"{name}.endsAt" if name == "promotion" else f"{name}[{index}].endsAt"
            yield _problem(path, "contradiction", "The end must be after the start.")


def _check_unique(name: str, member: str, values: Sequence[Any]) -> Iterator[Problem]:
    seen: set[Any] = set()
    for index, value in enumerate(values):
        key = value.casefold() if isinstance(value, str) else value
        if key in seen:
            yield _problem(f"{name}[{index}].{member}", "duplicate", "Stands in the list twice.")
        seen.add(key)


def _problem(path: str, code: str, message: str) -> Problem:
    return {"path": path, "code": code, "message": message}
