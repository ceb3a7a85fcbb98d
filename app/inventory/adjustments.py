"""The statement behind `adjust`: the row is locked, checked and moved, and its movement added, in one round trip.

What is told late: a movement or a count whose own time lies before others that are booked already.

The book is read by its own times. A count says what there was at its moment, whatever anybody tells later; so a
movement from before it changes what the count found missing, by a counterpart at the moment of the count, and leaves
what there is now alone.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy.orm import Session as OrmSession

from app.core.clock import rfc3339
from app.core.db import fetch_row, fetch_rows
from app.core.errors import ValidationFailed
from app.events.time_conversion import to_instant
from app.inventory.errors import QuantityTooLarge
from app.inventory.item_fields import BUCKETS, MAX_QUANTITY
from app.inventory.movement_sql import (
    CHANNEL,
    INSERT_MOVEMENTS_CTE,
    ITEM_COLUMN_NAMES,
    MOVEMENT_COLUMN_NAMES,
    NEXT_MOVED_AT_SQL,
    RECORD_CHANGES_CTE,
    qualified_columns_sql,
)

OWNED_EVENT_SQL = "(%(all)s OR e.organiser_id = %(caller)s)"
RESULT_COLUMNS = ("done", *ITEM_COLUMN_NAMES, *(f"movement_{column}" for column in MOVEMENT_COLUMN_NAMES), "notified")
DELTA_SQL = "coalesce(%(delta)s::numeric, %(counted)s::numeric - was.{column})"
ENOUGH_STOCK_SQL = """least(i.on_hand + w.on_hand_by, i.reserved + w.reserved_by, i.damaged + w.damaged_by,
               i.available + w.on_hand_by - w.reserved_by - w.damaged_by) >= 0"""
QUANTITY_LIMIT_SQL = f"(w.delta <= 0 OR i.{{column}} + w.delta <= {MAX_QUANTITY})"


def guard_sql(column: str) -> str:
    """What must hold of the row when it is written: that there is enough of everything, and no more than a file may
    say. What is too much already may become less."""
    return f"{ENOUGH_STOCK_SQL} AND {QUANTITY_LIMIT_SQL.format(column=column)}"


@cache
def adjustment_sql(bucket: str) -> str:
    """Moves one bucket by `delta`, or to `counted`. No row: there is no such item; `done` tells whether it went.

    What has been received lowers what is on order.
    """
    column = BUCKETS[bucket]
    delta = DELTA_SQL.format(column=column)
    bucket_deltas = ", ".join(f"{delta if bucket == column else '0'} AS {bucket}_by" for bucket in BUCKETS.values())
    unchanged_columns = qualified_columns_sql("was", ITEM_COLUMN_NAMES)
    return f"""
WITH was AS (
    SELECT {qualified_columns_sql("i", ITEM_COLUMN_NAMES)} FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_SQL}
       FOR NO KEY UPDATE OF i
), wanted AS (
    SELECT was.id, was.is_low AS was_low, was.on_order AS was_on_order, {delta} AS delta, {bucket_deltas} FROM was
), moved AS (
    UPDATE inventory_item i
       SET {column} = i.{column} + w.delta,
           on_order = CASE WHEN %(reason)s = 'received' AND w.on_hand_by > 0
                           THEN greatest(0, i.on_order - w.on_hand_by) ELSE i.on_order END,
           version = i.version + 1, moved_at = {NEXT_MOVED_AT_SQL}, updated_at = now()
      FROM wanted w
     WHERE i.id = w.id AND {guard_sql(column)} AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
    RETURNING i.*, w.delta AS moved_by, w.was_low, w.was_on_order - i.on_order AS arrived
), entries AS (
    SELECT event_id, id AS item_id, '{bucket}' AS bucket, moved_by AS delta, on_hand AS on_hand_after,
           %(reason)s AS reason, %(note)s AS note, %(reference)s AS reference, %(counted)s::numeric AS counted,
           %(caller)s AS actor_id, coalesce(%(occurred_at)s::timestamptz, moved_at) AS occurred_at
      FROM moved
    UNION ALL
    SELECT event_id, id, 'onOrder', -arrived, on_hand, 'received', NULL, %(reference)s, NULL, %(caller)s, moved_at
      FROM moved WHERE arrived <> 0
), {INSERT_MOVEMENTS_CTE}, {RECORD_CHANGES_CTE}
SELECT true, {qualified_columns_sql("moved")}, {qualified_columns_sql("booked", MOVEMENT_COLUMN_NAMES)}, pg_notify('{CHANNEL}', moved.event_id)
  FROM moved JOIN booked ON booked.bucket <> 'onOrder'
UNION ALL
SELECT false, {unchanged_columns}, {", ".join(["NULL"] * len(MOVEMENT_COLUMN_NAMES))}, NULL FROM was WHERE NOT EXISTS (SELECT FROM moved)
"""


CLOCK_TOLERANCE = timedelta(minutes=5)
EARLIEST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
# The time is read when the lock is held, by the clock that times everything else in the book.
LOCK_ITEM_SQL = f"""
WITH locked AS MATERIALIZED (
    SELECT e.timezone FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_SQL} FOR NO KEY UPDATE OF i
)
SELECT timezone, clock_timestamp() FROM locked
"""
# What the bucket held at that moment, and the first count from then on, which knew of what happened until then.
QUANTITY_AT_SQL = """
SELECT i.{column} - coalesce((SELECT sum(delta) FROM inventory_movement m
                               WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.occurred_at > %(at)s), 0),
       (SELECT min(m.occurred_at) FROM inventory_movement m
         WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.counted IS NOT NULL AND m.occurred_at >= %(at)s)
  FROM inventory_item i WHERE i.id = %(item)s
"""
MOVEMENT_BEFORE_COUNT_SQL = f"""
WITH was AS (SELECT id, on_order FROM inventory_item WHERE id = %(item)s), i AS (
    UPDATE inventory_item i
       SET on_order = CASE WHEN %(reason)s = 'received' AND %(bucket)s = 'onHand'
                           THEN greatest(0, i.on_order - greatest(0, %(delta)s::numeric)) ELSE i.on_order END,
           version = version + 1, updated_at = now()
      FROM was WHERE i.id = was.id AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
    RETURNING i.*, was.on_order - i.on_order AS arrived
), booked AS (
    INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, note, reference, counted,
                                    actor_id, occurred_at)
    SELECT event_id, id, %(bucket)s, %(delta)s::numeric, on_hand, %(reason)s, %(note)s, %(reference)s,
           %(counted)s::numeric, %(caller)s, %(at)s FROM i
    RETURNING *
), countered AS (
    INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, reference, corrects,
                                    actor_id, occurred_at)
    SELECT event_id, item_id, bucket, -delta, on_hand_after, 'count', reference, seq, actor_id, %(count_at)s
      FROM booked WHERE delta <> 0
    UNION ALL
    SELECT event_id, id, 'onOrder', -arrived, on_hand, 'received', %(reference)s, NULL, %(caller)s, now()
      FROM i WHERE arrived <> 0
), told AS (
    INSERT INTO inventory_change (event_id, kind, item_id, movement) SELECT event_id, 'moved', item_id, seq FROM booked
)
SELECT true, {qualified_columns_sql("i")}, {qualified_columns_sql("booked", MOVEMENT_COLUMN_NAMES)}, pg_notify('{CHANNEL}', i.event_id) FROM i, booked
UNION ALL
SELECT false, {qualified_columns_sql("j")}, {", ".join(["NULL"] * len(MOVEMENT_COLUMN_NAMES))}, NULL
  FROM inventory_item j WHERE j.id = %(item)s AND NOT EXISTS (SELECT FROM i)
"""
assert len(ITEM_COLUMN_NAMES) + len(MOVEMENT_COLUMN_NAMES) + 2 == len(RESULT_COLUMNS)


def record_backdated_movement(
    session: OrmSession, bucket: str, adjustment: Mapping[str, Any], occurred_at: datetime
) -> Any:
    """Books what happened at a time of its own; the row that `adjusting` gives.

    Raises ValidationFailed, QuantityTooLarge.
    """
    locked_item = fetch_row(LOCK_ITEM_SQL, adjustment)
    if locked_item is None:
        return None
    event_time = _check_occurred_at(occurred_at, *locked_item)
    params = {**adjustment, "at": event_time, "occurred_at": event_time}
    ((quantity, count_at),) = fetch_rows(QUANTITY_AT_SQL.format(column=BUCKETS[bucket]), params)
    if params["delta"] is None:
        params["delta"] = params["counted"] - quantity
    if abs(params["delta"]) > MAX_QUANTITY:
        # Late movements before a count change nothing that stands beside the item, so no other rule bounds their sum.
        raise QuantityTooLarge("The book holds too much at that time.")
    if count_at is not None:
        return fetch_row(MOVEMENT_BEFORE_COUNT_SQL, {**params, "count_at": count_at})
    return fetch_row(adjustment_sql(bucket), params)


def _check_occurred_at(occurred_at: datetime, zone: str, now: datetime) -> datetime:
    event_time = to_instant(occurred_at, zone)
    if event_time > now + CLOCK_TOLERANCE or event_time < EARLIEST_TIME:
        raise ValidationFailed.of("occurredAt", "invalid_time", f"Must be a time until now, {rfc3339(now)}.")
    return min(event_time, now)
