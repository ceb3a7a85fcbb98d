"""What a campaign must be before it is kept: every problem of its fields, in the words of the API."""

from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, NamedTuple

from app.campaigns import placeholders
from app.campaigns.states import HOLDERS, SPECIFIC
from app.campaigns.templates import TEMPLATES
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.events.time_conversion import to_instant

LONGEST_WAIT = timedelta(days=365)
TEXTS = {"title": "title", "body": "body", "variant_b_title": "variantBTitle", "variant_b_body": "variantBBody"}
FIELDS = (
    "name",
    "template_id",
    "title",
    "body",
    "href",
    "image_url",
    "banner_url",
    "channels",
    "ab_test_enabled",
    "variant_b_title",
    "variant_b_body",
    "ab_split_percent",
    "audience_type",
    "user_ids",
    "respect_preferences",
)
"""Columns of a campaign that its organiser writes."""
DEFAULTS: dict[str, Any] = {"ab_test_enabled": False, "ab_split_percent": 50, "user_ids": []}


class Fault(NamedTuple):
    """One thing that is wrong: the field as it was sent, a code, a sentence."""

    path: str
    code: str
    message: str


def find_faults(fields: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with these fields together. Those that are missing are not looked at; a naive time is not yet."""
    return [
        *_check_texts(fields),
        *_apply_template(fields),
        *_check_variants(fields),
        *_check_user_ids(fields),
        *_check_time(fields),
    ]


def check_campaign(fields: Mapping[str, Any]) -> None:
    """Raises ValidationFailed with all of it."""
    if faults := find_faults(fields):
        raise ValidationFailed([item._asdict() for item in faults])


def resolve_fields(fields: Mapping[str, Any], zone: str) -> dict[str, Any]:
    """The fields with the time as an instant; a naive one is on the event's clock. Raises ValidationFailed."""
    when = fields.get("scheduled_at")
    values = {**fields, "scheduled_at": to_instant(when, zone) if when else None}
    check_campaign(values)
    return values


def to_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is written of them."""
    return {name: DEFAULTS.get(name) if fields.get(name) is None else fields[name] for name in FIELDS}


def _check_texts(fields: Mapping[str, Any]) -> list[Fault]:
    items = []
    for name, path in TEXTS.items():
        for word, near in placeholders.unknown_in(fields.get(name) or "").items():
            hint = f" Did you mean {{{near}}}?" if near else f" There are: {', '.join(placeholders.PLACEHOLDERS)}."
            sentence = f"There is no placeholder {{{word[:40]}}}.{hint}"
            items.append(Fault(path, "unknown_placeholder", sentence))
    return items


def _apply_template(fields: Mapping[str, Any]) -> list[Fault]:
    value = fields.get("template_id")
    if value is None or value in TEMPLATES:
        return []
    near = get_close_matches(value, TEMPLATES, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(TEMPLATES)}."
    return [Fault("templateId", "unknown_value", f"There is no such template. {hint}")]


def _check_variants(fields: Mapping[str, Any]) -> list[Fault]:
    if not fields.get("ab_test_enabled") or fields.get("variant_b_title") or fields.get("variant_b_body"):
        return []
    return [Fault("variantBTitle", "required", "A test of two variants needs another title, another body, or both.")]


def _check_user_ids(fields: Mapping[str, Any]) -> list[Fault]:
    named, kind = fields.get("user_ids"), fields.get("audience_type")
    if kind == SPECIFIC and not named:
        return [Fault("userIds", "required", "Say who: one id at least.")]
    if kind == HOLDERS and named:
        sentence = "All holders are written to, so name nobody; or choose specific_users."
        return [Fault("userIds", "conflicting", sentence)]
    return []


def _check_time(fields: Mapping[str, Any]) -> list[Fault]:
    when = fields.get("scheduled_at")
    if when is None:
        return []
    if fields.get("send_now"):
        return [Fault("scheduledAt", "conflicting", "Send it now, or at that time: not both.")]
    if when.tzinfo is None:
        return []
    now = database_now()
    if when <= now:
        return [Fault("scheduledAt", "too_small", "Must be in the future.")]
    if when - now > LONGEST_WAIT:
        return [Fault("scheduledAt", "too_large", f"Must be within {LONGEST_WAIT.days} days.")]
    return []
