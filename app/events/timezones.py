"""Time zones of events: conversion of local times.

A time without an offset is in the event's time zone. When clocks go forward, a time that does not exist means the one an
hour later (02:30 → 03:30 on the last Sunday of March in Berlin). When they go back, a time that occurs twice means the
first; an offset selects the second. See docs/decisions/local-times.md.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from app.core.db import database_now
from app.core.errors import ValidationFailed

MAX_DELAY_DAYS = 90


def to_instant(moment: datetime, zone: str) -> datetime:
    """The UTC instant of a time in `zone`, to the millisecond. A time with an offset ignores `zone`."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone), fold=0)
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)


def to_payment_time(mode: str, moment: datetime | None, zone: str) -> datetime | None:
    """When a payment of the mode `schedule` is due; None for the mode `now`.

    Raises ValidationFailed when the time is missing, past or more than 90 days off.
    """
    if mode == "now":
        return None
    if moment is None:
        raise ValidationFailed.of("scheduledFor", "required", "Say when, or choose the mode now.")
    due_at, now = to_instant(moment, zone), database_now()
    if due_at <= now:
        raise ValidationFailed.of("scheduledFor", "too_small", "Must be in the future.")
    if (due_at - now).days >= MAX_DELAY_DAYS:
        raise ValidationFailed.of("scheduledFor", "too_large", f"Must be within {MAX_DELAY_DAYS} days.")
    return due_at
