"""Statements that write the book: every one moves quantities, adds movements and tells listeners, all at once.

Each begins with a common table `moved`: the items after the change with `was_low`, and one row of `bucket, delta` for
each movement stands in `entries`. `TOLD` does the rest.
"""

from app.inventory.item_fields import ATTRIBUTES

CHANNEL = "inventory"
ITEM_COLUMN_NAMES = (
    "id",
    "event_id",
    *ATTRIBUTES,
    "on_order",
    "available",
    "is_low",
    "version",
    "created_at",
    "updated_at",
)
MOVEMENT_COLUMN_NAMES = (
    "seq",
    "item_id",
    "bucket",
    "delta",
    "on_hand_after",
    "reason",
    "note",
    "reference",
    "counted",
    "occurred_at",
    "recorded_at",
    "actor_id",
)
# A count and what comes after it must never share a moment, whatever the clock does.
NEXT_MOVED_AT_SQL = "greatest(clock_timestamp(), i.moved_at + interval '1 microsecond')"
INSERT_MOVEMENTS_CTE = """
booked AS (
    INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, note, reference, counted,
                                    actor_id, occurred_at)
    SELECT event_id, item_id, bucket, delta, on_hand_after, reason, note, reference, counted, actor_id, occurred_at
      FROM entries
    RETURNING *
)"""
RECORD_CHANGES_CTE = """
told AS (
    INSERT INTO inventory_change (event_id, kind, item_id, movement)
    SELECT event_id, 'moved', item_id, seq FROM booked WHERE bucket <> 'onOrder'
    UNION ALL SELECT event_id, 'low', id, NULL::bigint FROM moved WHERE is_low AND NOT was_low
), alerted AS (
    INSERT INTO inventory_alert (event_id, item_id, available)
    SELECT event_id, id, available FROM moved WHERE is_low AND NOT was_low
)"""


def item_change_sql(kind: str) -> str:
    """The same for statements about whole items: `kind` says what happened to each."""
    item_changes = f"SELECT event_id, '{kind}', id, NULL::bigint FROM moved UNION ALL "
    return RECORD_CHANGES_CTE.replace("    SELECT event_id, 'moved'", f"    {item_changes}SELECT event_id, 'moved'", 1)


def qualified_columns_sql(table: str, names: tuple[str, ...] = ITEM_COLUMN_NAMES) -> str:
    """The columns of a table, for a list of what to select."""
    return ", ".join(f"{table}.{name}" for name in names)
