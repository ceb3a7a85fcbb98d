"""What is told late: a movement or a count whose own time lies before others that are booked already.

The book is read by its own times. A count says what there was at its moment, whatever anybody tells later; so a
movement from before it changes what the count found missing, by a counterpart at the moment of the count, and leaves
what there is now alone.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session as OrmSession

from app.core.clock import rfc3339
from app.core.db import fetch_row, fetch_rows
from app.core.errors import ValidationFailed
from app.events.times import instant
from app.inventory import adjusting
from app.inventory.adjusting import OWN
from app.inventory.book import CHANNEL, MOVEMENT, SHOWN, columns_of
from app.inventory.columns import BUCKETS, MOST
from app.inventory.errors import QuantityTooLarge

SLACK = timedelta(minutes=5)
FIRST = datetime(2000, 1, 1, tzinfo=UTC)
# The time is read when the lock is held, by the clock that times everything else in the book.
LOCK = f"""
WITH locked AS MATERIALIZED (
    SELECT e.timezone FROM inventory_item i JOIN event e ON e.id = i.event_id
     WHERE i.id = %(item)s AND i.event_id = %(event)s AND {OWN} FOR NO KEY UPDATE OF i
)
SELECT timezone, clock_timestamp() FROM locked
"""
# What the bucket held at that moment, and the first count from then on, which knew of what happened until then.
BOOK_AT = """
SELECT i.{column} - coalesce((SELECT sum(delta) FROM inventory_movement m
                               WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.occurred_at > %(at)s), 0),
       (SELECT min(m.occurred_at) FROM inventory_movement m
         WHERE m.item_id = i.id AND m.bucket = %(bucket)s AND m.counted IS NOT NULL AND m.occurred_at >= %(at)s)
  FROM inventory_item i WHERE i.id = %(item)s
"""
HELD_BY_A_COUNT = f"""
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
SELECT true, {columns_of("i")}, {columns_of("booked", MOVEMENT)}, pg_notify('{CHANNEL}', i.event_id) FROM i, booked
UNION ALL
SELECT false, {columns_of("j")}, {", ".join(["NULL"] * len(MOVEMENT))}, NULL
  FROM inventory_item j WHERE j.id = %(item)s AND NOT EXISTS (SELECT FROM i)
"""
assert len(SHOWN) + len(MOVEMENT) + 2 == len(adjusting.COLUMNS)


def book(session: OrmSession, bucket: str, asked: Mapping[str, Any], occurred_at: datetime) -> Any:
    """Books what happened at a time of its own; the row that `adjusting` gives.

    Raises ValidationFailed, QuantityTooLarge.
    """
    locked = fetch_row(LOCK, asked)
    if locked is None:
        return None
    at = _moment(occurred_at, *locked)
    told = {**asked, "at": at, "occurred_at": at}
    ((held, count_at),) = fetch_rows(BOOK_AT.format(column=BUCKETS[bucket]), told)
    if told["delta"] is None:
        told["delta"] = told["counted"] - held
    if abs(told["delta"]) > MOST:
        # Late movements before a count change nothing that stands beside the item, so no other rule bounds their sum.
        raise QuantityTooLarge("The book holds too much at that time.")
    if count_at is not None:
        return fetch_row(HELD_BY_A_COUNT, {**told, "count_at": count_at})
    return fetch_row(adjusting.statement(bucket), told)


def _moment(occurred_at: datetime, zone: str, now: datetime) -> datetime:
    at = instant(occurred_at, zone)
    if at > now + SLACK or at < FIRST:
        raise ValidationFailed.of("occurredAt", "invalid_time", f"Must be a time until now, {rfc3339(now)}.")
    return min(at, now)
