"""The statement behind `adjust`: the row is locked, checked and moved, and its movement added, in one round trip."""

from functools import cache

from app.inventory.book import BOOKED, CHANNEL, MOVEMENT, NEXT_MOMENT, SHOWN, TOLD, columns_of
from app.inventory.columns import BUCKETS, MOST

OWN = "(%(all)s OR e.organiser_id = %(caller)s)"
COLUMNS = ("done", *SHOWN, *(f"movement_{item}" for item in MOVEMENT), "notified")
DELTA = "coalesce(%(delta)s::numeric, %(counted)s::numeric - was.{column})"
GUARD = """least(i.on_hand + w.on_hand_by, i.reserved + w.reserved_by, i.damaged + w.damaged_by,
               i.available + w.on_hand_by - w.reserved_by - w.damaged_by) >= 0"""
LIMIT = f"(w.delta <= 0 OR i.{{column}} + w.delta <= {MOST})"


def guard(column: str) -> str:
    """What must hold of the row when it is written: that there is enough of everything, and no more than a file may
    say. What is too much already may become less."""
    return f"{GUARD} AND {LIMIT.format(column=column)}"


@cache
def statement(bucket: str) -> str:
    """Moves one bucket by `delta`, or to `counted`. No row: there is no such item; `done` tells whether it went.

    What has been received lowers what is on order.
    """
    column = BUCKETS[bucket]
    delta = DELTA.format(column=column)
    by = ", ".join(f"{delta if bucket == column else '0'} AS {bucket}_by" for bucket in BUCKETS.values())
    names = columns_of("was", SHOWN)
    return f"""
WITH was AS (
    SELECT {columns_of("i", SHOWN)} FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWN}
       FOR NO KEY UPDATE OF i
), wanted AS (
    SELECT was.id, was.is_low AS was_low, was.on_order AS was_on_order, {delta} AS delta, {by} FROM was
), moved AS (
    UPDATE inventory_item i
       SET {column} = i.{column} + w.delta,
           on_order = CASE WHEN %(reason)s = 'received' AND w.on_hand_by > 0
                           THEN greatest(0, i.on_order - w.on_hand_by) ELSE i.on_order END,
           version = i.version + 1, moved_at = {NEXT_MOMENT}, updated_at = now()
      FROM wanted w
     WHERE i.id = w.id AND {guard(column)} AND (%(expected)s::numeric IS NULL OR i.on_hand = %(expected)s::numeric)
    RETURNING i.*, w.delta AS moved_by, w.was_low, w.was_on_order - i.on_order AS arrived
), entries AS (
    SELECT event_id, id AS item_id, '{bucket}' AS bucket, moved_by AS delta, on_hand AS on_hand_after,
           %(reason)s AS reason, %(note)s AS note, %(reference)s AS reference, %(counted)s::numeric AS counted,
           %(caller)s AS actor_id, coalesce(%(occurred_at)s::timestamptz, moved_at) AS occurred_at
      FROM moved
    UNION ALL
    SELECT event_id, id, 'onOrder', -arrived, on_hand, 'received', NULL, %(reference)s, NULL, %(caller)s, moved_at
      FROM moved WHERE arrived <> 0
), {BOOKED}, {TOLD}
SELECT true, {columns_of("moved")}, {columns_of("booked", MOVEMENT)}, pg_notify('{CHANNEL}', moved.event_id)
  FROM moved JOIN booked ON booked.bucket <> 'onOrder'
UNION ALL
SELECT false, {names}, {", ".join(["NULL"] * len(MOVEMENT))}, NULL FROM was WHERE NOT EXISTS (SELECT FROM moved)
"""
