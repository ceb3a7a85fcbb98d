"""The common table expressions of the statements that change quantities.

Such a statement updates the items in `moved` (their new values and `was_low`) and lists the movements in `entries`.
`INSERT_MOVEMENTS_CTE` inserts these movements and `RECORD_CHANGES_CTE` notes the changes for streams and alerts.
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
# A movement after a count must have a later time than the count, even when the clock stands still.
NEXT_MOVED_AT_SQL = "greatest(clock_timestamp(), i.moved_at + interval '1 microsecond')"
INSERT_MOVEMENTS_SQL = """
    INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, note, reference, counted,
                                    corrects, actor_id, occurred_at)
    SELECT event_id, item_id, bucket, delta, on_hand_after, reason, note, reference, counted, corrects, actor_id,
           occurred_at
      FROM entries"""
INSERT_MOVEMENTS_CTE = f"""
recorded AS ({INSERT_MOVEMENTS_SQL}
    RETURNING *
)"""
RECORD_CHANGES_CTE = """
changes AS (
    INSERT INTO inventory_change (event_id, kind, item_id, movement)
    SELECT event_id, 'moved', item_id, seq FROM recorded WHERE bucket <> 'onOrder'
    UNION ALL SELECT event_id, 'low', id, NULL::bigint FROM moved WHERE is_low AND NOT was_low
), alerts AS (
    INSERT INTO inventory_alert (event_id, item_id, available)
    SELECT event_id, id, available FROM moved WHERE is_low AND NOT was_low
)"""


def item_change_sql(kind: str) -> str:
    """Return `RECORD_CHANGES_CTE` with one more change of this kind for each item."""
    item_changes = f"SELECT event_id, '{kind}', id, NULL::bigint FROM moved UNION ALL "
    return RECORD_CHANGES_CTE.replace("    SELECT event_id, 'moved'", f"    {item_changes}SELECT event_id, 'moved'", 1)


def qualified_columns_sql(table: str, names: tuple[str, ...] = ITEM_COLUMN_NAMES) -> str:
    """Return the columns of a table for a SELECT, each with the name of the table."""
    return ", ".join(f"{table}.{name}" for name in names)
