"""Rules across the fields of a campaign. All problems are reported together."""

from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, NamedTuple

from app.campaigns import message_templates
from app.campaigns.filtered_people_sql import ROLES_BY_CONDITION
from app.campaigns.message_templates import TEMPLATES
from app.campaigns.states import FILTERED, HOLDERS, SPECIFIC
from app.core.db import database_now
from app.core.errors import ValidationFailed
from app.core.languages import mark_for_translation
from app.events.timezones import to_instant

MAX_DELAY = timedelta(days=365)
TEXTS_OF_ALL = ("title", "body")
TEXTS = (*TEXTS_OF_ALL, "variant_b_title", "variant_b_body")
UNFILLED_MESSAGE = mark_for_translation(
    "There is still a line with only “…”. Write there what you want to say, or remove the line."
)
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
    "audience_filter",
    "respect_preferences",
)
"""Columns of a campaign that its organiser sets."""
DEFAULTS: Mapping[str, object] = {"ab_test_enabled": False, "ab_split_percent": 50, "user_ids": []}


Fields = Mapping[str, Any]


class Fault(NamedTuple):
    """A problem of a field."""

    field: str
    code: str
    message: str


def find_faults(fields: Fields) -> list[Fault]:
    """The problems of these fields together. Missing fields and naive times are not checked."""
    return [
        *_check_texts(fields),
        *_check_template(fields),
        *_check_variants(fields),
        *_check_user_ids(fields),
        *_check_filter(fields),
        *_check_time(fields),
        *_check_unfilled(fields),
    ]


def find_unfilled(fields: Fields) -> list[str]:
    """The texts of a campaign in which the place for the organiser's text is still as in the template."""
    names = TEXTS if fields.get("ab_test_enabled") else TEXTS_OF_ALL
    return [name for name in names if message_templates.is_unfilled(fields.get(name) or "")]


def check_campaign(fields: Fields) -> None:
    """Raises ValidationFailed with all problems."""
    if faults := find_faults(fields):
        raise ValidationFailed(
            [{"path": fault.field, "code": fault.code, "message": fault.message} for fault in faults]
        )


def resolve_fields(fields: Fields, zone: str) -> dict[str, Any]:
    """The checked fields with `scheduled_at` as an instant; a naive one is in `zone`. Raises ValidationFailed."""
    scheduled_at = fields.get("scheduled_at")
    resolved = {**fields, "scheduled_at": to_instant(scheduled_at, zone) if scheduled_at else None}
    check_campaign(resolved)
    return resolved


def to_columns(fields: Fields) -> dict[str, Any]:
    """The values of FIELDS, with defaults for those that are missing or None."""
    return {name: DEFAULTS.get(name) if fields.get(name) is None else fields[name] for name in FIELDS}


def _check_texts(fields: Fields) -> list[Fault]:
    faults = []
    for name in TEXTS:
        for placeholder, similar in message_templates.unknown_in(fields.get(name) or "").items():
            hint = (
                f" Did you mean {{{similar}}}?"
                if similar
                else f" There are: {', '.join(message_templates.PLACEHOLDERS)}."
            )
            message = f"There is no placeholder {{{placeholder[:40]}}}.{hint}"
            faults.append(Fault(name, "unknown_placeholder", message))
    return faults


def _check_template(fields: Fields) -> list[Fault]:
    template_id = fields.get("template_id")
    if template_id is None or template_id in TEMPLATES:
        return []
    similar = get_close_matches(template_id, TEMPLATES, n=1, cutoff=0.5)
    hint = f"Did you mean {similar[0]}?" if similar else f"There are: {', '.join(TEMPLATES)}."
    return [Fault("template_id", "unknown_value", f"There is no such template. {hint}")]


def _check_variants(fields: Fields) -> list[Fault]:
    if not fields.get("ab_test_enabled") or fields.get("variant_b_title") or fields.get("variant_b_body"):
        return []
    return [Fault("variant_b_title", "required", "A test of two variants needs another title, another body, or both.")]


def _check_user_ids(fields: Fields) -> list[Fault]:
    user_ids, audience_type = fields.get("user_ids"), fields.get("audience_type")
    if audience_type == SPECIFIC and not user_ids:
        return [Fault("user_ids", "required", "Name at least one id.")]
    if audience_type in (HOLDERS, FILTERED) and user_ids:
        message = "This audience takes no ids, so leave this empty; or choose specific_users."
        return [Fault("user_ids", "conflicting", message)]
    return []


def _check_filter(fields: Fields) -> list[Fault]:
    chosen, audience_type = fields.get("audience_filter"), fields.get("audience_type")
    if audience_type == FILTERED and not chosen:
        return [Fault("audience_filter", "required", "Say which people: choose at least one role.")]
    if audience_type in (HOLDERS, SPECIFIC) and chosen:
        return [Fault("audience_filter", "conflicting", "Only filtered_people takes a filter, so leave this empty.")]
    if not chosen:
        return []
    return [
        Fault(f"audience_filter.{name}", "contradiction", f"Choose {' or '.join(roles)} too, or leave this empty.")
        for name, roles in ROLES_BY_CONDITION.items()
        if chosen.get(name) not in (None, []) and not set(roles) & set(chosen["roles"])
    ]


def _check_time(fields: Fields) -> list[Fault]:
    scheduled_at = fields.get("scheduled_at")
    if scheduled_at is None:
        return []
    if fields.get("send_now"):
        return [Fault("scheduled_at", "conflicting", "Set sendNow or scheduledAt, not both.")]
    if scheduled_at.tzinfo is None:
        return []
    now = database_now()
    if scheduled_at <= now:
        return [Fault("scheduled_at", "too_small", "Must be in the future.")]
    if scheduled_at - now > MAX_DELAY:
        return [Fault("scheduled_at", "too_large", f"Must be within {MAX_DELAY.days} days.")]
    return []


def _check_unfilled(fields: Fields) -> list[Fault]:
    """A draft may still have the place for its text; a message that is sent or scheduled may not."""
    if not fields.get("send_now") and not fields.get("scheduled_at"):
        return []
    return [Fault(name, "unfilled", UNFILLED_MESSAGE) for name in find_unfilled(fields)]
