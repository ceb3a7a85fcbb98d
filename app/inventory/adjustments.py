"""Adjustments of one bucket of an item: one statement locks and checks the item, updates it and adds the movement.

A backdated movement has an earlier time than movements that are already recorded. A count fixes the quantity at its
time. A movement from before the count therefore changes the difference that the count found: a second movement at the
time of the count compensates it, and the present quantity stays the same.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import TypedDict

from app.core.clock import rfc3339
from app.core.db import DriverRow, fetch_row, fetch_rows
from app.core.errors import ValidationFailed
from app.events.timezones import to_instant
from app.inventory.errors import QuantityTooLarge
from app.inventory.item_fields import BUCKETS, MAX_QUANTITY
from app.inventory.sql import (
    CHANNEL,
    INSERT_MOVEMENTS_CTE,
    INSERT_MOVEMENTS_SQL,
    ITEM_COLUMN_NAMES,
    MOVEMENT_COLUMN_NAMES,
    next_moved_at_sql,
    qualified_columns_sql,
    record_changes_sql,
)

OWNED_EVENT_SQL = "(%(all)s OR e.organiser_id = %(caller)s)"
RESULT_COLUMNS = ("done", *ITEM_COLUMN_NAMES, *(f"movement_{column}" for column in MOVEMENT_COLUMN_NAMES), "notified")
DELTA_SQL = "coalesce(%(delta)s::numeric, %(counted)s::numeric - previous.{column})"
ENOUGH_STOCK_SQL = """least(i.on_hand + w.on_hand_by, i.reserved + w.reserved_by, i.damaged + w.damaged_by,
               i.available + w.on_hand_by - w.reserved_by - w.damaged_by) >= 0"""
QUANTITY_LIMIT_SQL = f"(w.delta <= 0 OR i.{{column}} + w.delta <= {MAX_QUANTITY})"


def guard_sql(column: str) -> str:
    """Return the condition of an update: no bucket is negative, and the changed one stays below the maximum.

    A bucket above the maximum may decrease.
    """
    return f"{ENOUGH_STOCK_SQL} AND {QUANTITY_LIMIT_SQL.format(column=column)}"


@cache
def adjustment_sql(bucket: str) -> str:
    """Return the statement that changes one bucket by `delta` or to `counted`. Received stock reduces `on_order`.

    It returns no row when there is no such item; `done` is false when the change is refused.
    """
    column = BUCKETS[bucket]
    delta = DELTA_SQL.format(column=column)
    bucket_deltas = ", ".join(f"{delta if bucket == column else '0'} AS {bucket}_by" for bucket in BUCKETS.values())
    unchanged_columns = qualified_columns_sql("previous", ITEM_COLUMN_NAMES)
    return f"""
WITH previous AS (
    SELECT {qualified_columns_sql("i", ITEM_COLUMN_NAMES)} FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_SQL}
       FOR NO KEY UPDATE OF i
), requested AS (
    SELECT previous.id, previous.is_low AS was_low, previous.on_order AS was_on_order, {delta} AS delta, {bucket_deltas} FROM previous
), moved AS (
    UPDATE inventory_item i
       SET {column} = i.{column} + w.delta,
           on_order = CASE WHEN %(reason)s = 'received' AND w.on_hand_by > 0
                           THEN greatest(0, i.on_order - w.on_hand_by) ELSE i.on_order END,
           version = i.version + 1, moved_at = {next_moved_at_sql("i")}, updated_at = now()
      FROM requested w
     WHERE i.id = w.id AND {guard_sql(column)} AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
    RETURNING i.*, w.delta AS moved_by, w.was_low, w.was_on_order - i.on_order AS arrived
), entries AS (
    SELECT event_id, id AS item_id, '{bucket}' AS bucket, moved_by AS delta, on_hand AS on_hand_after,
           %(reason)s AS reason, %(note)s AS note, %(reference)s AS reference, %(counted)s::numeric AS counted,
           NULL::bigint AS corrects, %(caller)s AS actor_id, coalesce(%(occurred_at)s::timestamptz, moved_at) AS occurred_at
      FROM moved
    UNION ALL
    SELECT event_id, id, 'onOrder', -arrived, on_hand, 'received', NULL, %(reference)s, NULL, NULL,
           %(caller)s, moved_at
      FROM moved WHERE arrived <> 0
), {INSERT_MOVEMENTS_CTE}, {record_changes_sql()}
SELECT true, {qualified_columns_sql("moved")}, {qualified_columns_sql("recorded", MOVEMENT_COLUMN_NAMES)}, pg_notify('{CHANNEL}', moved.event_id)
  FROM moved JOIN recorded ON recorded.bucket <> 'onOrder'
UNION ALL
SELECT false, {unchanged_columns}, {", ".join(["NULL"] * len(MOVEMENT_COLUMN_NAMES))}, NULL FROM previous WHERE NOT EXISTS (SELECT FROM moved)
"""


CLOCK_TOLERANCE = timedelta(minutes=5)
EARLIEST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
# The time is read while the lock is held, from the clock that times all other movements.
LOCK_ITEM_SQL = f"""
WITH locked AS MATERIALIZED (
    SELECT e.timezone FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_SQL} FOR NO KEY UPDATE OF i
)
SELECT timezone, clock_timestamp() FROM locked
"""
# The quantity of the bucket at that time, and the time of the first count at or after it.
QUANTITY_AT_SQL = """
SELECT i.{column} - coalesce((SELECT sum(delta) FROM inventory_movement m
                               WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.occurred_at > %(at)s), 0),
       (SELECT min(m.occurred_at) FROM inventory_movement m
         WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.counted IS NOT NULL AND m.occurred_at >= %(at)s)
  FROM inventory_item i WHERE i.id = %(item)s
"""
MOVEMENT_BEFORE_COUNT_SQL = f"""
WITH previous AS (SELECT id, on_order FROM inventory_item WHERE id = %(item)s), i AS (
    UPDATE inventory_item i
       SET on_order = CASE WHEN %(reason)s = 'received' AND %(bucket)s = 'onHand'
                           THEN greatest(0, i.on_order - greatest(0, %(delta)s::numeric)) ELSE i.on_order END,
           version = version + 1, updated_at = now()
      FROM previous WHERE i.id = previous.id AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
    RETURNING i.*, previous.on_order - i.on_order AS arrived
), entries AS (
    SELECT event_id, id AS item_id, %(bucket)s AS bucket, %(delta)s::numeric AS delta, on_hand AS on_hand_after,
           %(reason)s AS reason, %(note)s AS note, %(reference)s AS reference, %(counted)s::numeric AS counted,
           NULL::bigint AS corrects, %(caller)s AS actor_id, %(at)s AS occurred_at
      FROM i
), {INSERT_MOVEMENTS_CTE}, compensation AS (
    WITH entries AS (
        SELECT event_id, item_id, bucket, -delta AS delta, on_hand_after, 'count' AS reason, NULL AS note, reference,
               NULL::numeric AS counted, seq AS corrects, actor_id, %(count_at)s AS occurred_at
          FROM recorded WHERE delta <> 0
        UNION ALL
        SELECT event_id, id, 'onOrder', -arrived, on_hand, 'received', NULL, %(reference)s, NULL, NULL, %(caller)s, now()
          FROM i WHERE arrived <> 0
    ){INSERT_MOVEMENTS_SQL}
), changes AS (
    INSERT INTO inventory_change (event_id, kind, item_id, movement) SELECT event_id, 'moved', item_id, seq FROM recorded
)
SELECT true, {qualified_columns_sql("i")}, {qualified_columns_sql("recorded", MOVEMENT_COLUMN_NAMES)}, pg_notify('{CHANNEL}', i.event_id) FROM i, recorded
UNION ALL
SELECT false, {qualified_columns_sql("j")}, {", ".join(["NULL"] * len(MOVEMENT_COLUMN_NAMES))}, NULL
  FROM inventory_item j WHERE j.id = %(item)s AND NOT EXISTS (SELECT FROM i)
"""
assert len(ITEM_COLUMN_NAMES) + len(MOVEMENT_COLUMN_NAMES) + 2 == len(RESULT_COLUMNS)


class Adjustment(TypedDict):
    """The parameters of the statements."""

    item: str
    event: str
    caller: str
    all: bool
    bucket: str
    delta: Decimal | None
    counted: Decimal | None
    reason: str
    note: str | None
    reference: str | None
    expected: Decimal | None
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
