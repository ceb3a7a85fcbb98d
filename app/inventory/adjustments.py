"""Adjustments of one bucket of an item: one statement locks and checks the item, updates it and adds the movement.

A backdated movement has an earlier time than movements that are already recorded. A count fixes the quantity at its
time. A movement from before the count therefore changes the difference that the count found: a second movement at the
time of the count compensates it, and the present quantity stays the same.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from app.core.clock import rfc3339
from app.core.db import DriverRow, fetch_row, fetch_rows
from app.core.errors import ValidationFailed
from app.events.queries import OwnershipParams
from app.events.timezones import to_instant
from app.inventory.adjustment_sql import (
    LOCK_ITEM_SQL,
    MOVEMENT_BEFORE_COUNT_SQL,
    QUANTITY_AT_SQL,
    RESULT_COLUMNS,
    adjustment_sql,
)
from app.inventory.errors import QuantityTooLarge
from app.inventory.item_fields import BUCKETS, MAX_QUANTITY
from app.inventory.sql import (
    ITEM_COLUMN_NAMES,
    MOVEMENT_COLUMN_NAMES,
)

CLOCK_TOLERANCE = timedelta(minutes=5)
EARLIEST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
assert len(ITEM_COLUMN_NAMES) + len(MOVEMENT_COLUMN_NAMES) + 2 == len(RESULT_COLUMNS)


class Adjustment(OwnershipParams):
    """The parameters of the statements."""

    item: str
    event: str
    caller: str
    bucket: str
    delta: Decimal | None
    counted: Decimal | None
    reason: str
    note: str | None
    reference: str | None
    expected: Decimal | None
    expected_version: int | None
    occurred_at: datetime | None


def record_backdated_movement(adjustment: Adjustment, occurred_at: datetime) -> DriverRow | None:
    """Record a movement at its own time and return the row of `adjustment_sql`. Call it in a transaction.

    Raises ValidationFailed, QuantityTooLarge.
    """
    bucket = adjustment["bucket"]
    locked_item = fetch_row(LOCK_ITEM_SQL, adjustment)
    if locked_item is None:
        return None
    event_time = _check_occurred_at(occurred_at, *locked_item)
    params = {**adjustment, "at": event_time, "occurred_at": event_time}
    ((quantity, count_at),) = fetch_rows(QUANTITY_AT_SQL.format(column=BUCKETS[bucket]), params)
    delta = adjustment["delta"]
    if delta is None:
        assert adjustment["counted"] is not None
        delta = adjustment["counted"] - quantity
    if abs(delta) > MAX_QUANTITY:
        # Backdated movements before a count change no present quantity, so no other rule limits their sum.
        raise QuantityTooLarge("The movements add up to too much at that time.")
    if count_at is not None:
        return fetch_row(MOVEMENT_BEFORE_COUNT_SQL, {**params, "delta": delta, "count_at": count_at})
    return fetch_row(adjustment_sql(bucket), {**params, "delta": delta})


def _check_occurred_at(occurred_at: datetime, zone: str, now: datetime) -> datetime:
    event_time = to_instant(occurred_at, zone)
    if event_time > now + CLOCK_TOLERANCE or event_time < EARLIEST_TIME:
        raise ValidationFailed.of("occurredAt", "invalid_time", f"Must be a time until now, {rfc3339(now)}.")
    return min(event_time, now)
