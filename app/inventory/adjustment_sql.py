"""The statements that create an item, change one of its quantities, and record a change with an earlier time."""

from functools import cache

from sqlalchemy import text

from app.events.queries import OWNED_EVENT_DRIVER_SQL
from app.inventory.item_fields import ATTRIBUTES, BUCKETS, MAX_QUANTITY
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

RESULT_COLUMNS = ("done", *ITEM_COLUMN_NAMES, *(f"movement_{column}" for column in MOVEMENT_COLUMN_NAMES), "notified")

DELTA_SQL = "coalesce(%(delta)s::numeric, %(counted)s::numeric - previous.{column})"

EXPECTED_ITEM_SQL = """i.archived_at IS NULL AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
       AND (%(expected_version)s::int IS NULL OR i.version = %(expected_version)s::int)"""

ENOUGH_STOCK_SQL = """least(i.on_hand + w.on_hand_by, i.reserved + w.reserved_by, i.damaged + w.damaged_by,
               i.available + w.on_hand_by - w.reserved_by - w.damaged_by) >= 0"""

QUANTITY_LIMIT_SQL = f"(w.delta <= 0 OR i.{{column}} + w.delta <= {MAX_QUANTITY})"


def guard_sql(column: str) -> str:
    """Return the condition of an update: the item is as expected, no bucket is negative, and the changed one stays below
    the maximum.

    A bucket above the maximum may decrease.
    """
    return f"{EXPECTED_ITEM_SQL} AND {ENOUGH_STOCK_SQL} AND {QUANTITY_LIMIT_SQL.format(column=column)}"


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
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_DRIVER_SQL}
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
     WHERE i.id = w.id AND i.event_id = %(event)s AND {guard_sql(column)}
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


# The time is read while the lock is held, from the clock that times all other movements.
LOCK_ITEM_SQL = f"""
WITH locked AS MATERIALIZED (
    SELECT e.timezone FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWNED_EVENT_DRIVER_SQL} FOR NO KEY UPDATE OF i
)
SELECT timezone, clock_timestamp() FROM locked
"""

# The quantity of the bucket at that time, and the time of the first count at or after it.
QUANTITY_AT_SQL = """
SELECT i.{column} - coalesce((SELECT sum(delta) FROM inventory_movement m
                               WHERE m.item_id = i.id AND m.event_id = i.event_id AND m.bucket = %(bucket)s
                                 AND m.occurred_at > %(at)s), 0),
       (SELECT min(m.occurred_at) FROM inventory_movement m
         WHERE m.item_id = i.id AND m.event_id = i.event_id AND m.bucket = %(bucket)s AND m.counted IS NOT NULL
           AND m.occurred_at >= %(at)s)
  FROM inventory_item i WHERE i.id = %(item)s AND i.event_id = %(event)s
"""

MOVEMENT_BEFORE_COUNT_SQL = f"""
WITH previous AS (
    SELECT id, on_order FROM inventory_item WHERE id = %(item)s AND event_id = %(event)s
), i AS (
    UPDATE inventory_item i
       SET on_order = CASE WHEN %(reason)s = 'received' AND %(bucket)s = 'onHand'
                           THEN greatest(0, i.on_order - greatest(0, %(delta)s::numeric)) ELSE i.on_order END,
           version = version + 1, updated_at = now()
      FROM previous
     WHERE i.id = previous.id AND i.event_id = %(event)s AND {EXPECTED_ITEM_SQL}
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
  FROM inventory_item j WHERE j.id = %(item)s AND j.event_id = %(event)s AND NOT EXISTS (SELECT FROM i)
"""

OPENING_NOTE = "opening stock"

_VALUES = ", ".join(f":{attribute}" for attribute in ATTRIBUTES)

_OPENING_ENTRIES = ", ".join(f"('{bucket}', {column})" for bucket, column in BUCKETS.items())

CREATE_ITEM_SQL = text(f"""
WITH moved AS (
    INSERT INTO inventory_item (id, event_id, sku_key, {", ".join(ATTRIBUTES)})
    SELECT :id, e.id, :sku_key, {_VALUES} FROM event e WHERE e.id = :event
    ON CONFLICT (event_id, sku_key) DO NOTHING
    RETURNING *, true AS was_low
), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason,
           '{OPENING_NOTE}' AS note, NULL AS reference, NULL::numeric AS counted, NULL::bigint AS corrects, :caller AS actor_id,
           moved_at AS occurred_at
      FROM moved, LATERAL (VALUES {_OPENING_ENTRIES}) AS entry (bucket, delta) WHERE delta <> 0
), {INSERT_MOVEMENTS_CTE}, {record_changes_sql("created")}
SELECT {", ".join(ITEM_COLUMN_NAMES)}, pg_notify('{CHANNEL}', event_id) FROM moved
""")

RECORD_CORRECTIONS_SQL = text(f"""
WITH moved AS (SELECT i.*, CAST(:was_low AS boolean) AS was_low FROM inventory_item i WHERE i.id = :id), entries AS (
    SELECT event_id, id AS item_id, bucket, delta, on_hand AS on_hand_after, 'correction' AS reason, NULL AS note,
           NULL AS reference, NULL::numeric AS counted, NULL::bigint AS corrects, :caller AS actor_id, moved_at AS occurred_at
      FROM moved, unnest(CAST(:buckets AS text[]), CAST(:deltas AS numeric[])) AS entry (bucket, delta)
), {INSERT_MOVEMENTS_CTE}, {record_changes_sql("changed")}
SELECT pg_notify('{CHANNEL}', event_id) FROM moved
""")
