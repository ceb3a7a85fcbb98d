"""The common table expressions of the statements that change quantities.

Such a statement updates the items in `moved` (their new values and `was_low`) and lists the movements in `entries`.
`INSERT_MOVEMENTS_CTE` inserts these movements and `record_changes_sql` notes the changes for streams and alerts.
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


def record_changes_sql(item_change: str | None = None, *, with_on_order: bool = False) -> str:
    """Return the CTEs that note each movement and each item that became low, for streams and alerts.

    `item_change` is the kind of one more change for each item. Movements of `onOrder` count only with `with_on_order`.
    """
    item_changes = (
        f"SELECT event_id, '{item_change}', id, NULL::bigint FROM moved\n    UNION ALL " if item_change else ""
    )
    condition = "" if with_on_order else " WHERE bucket <> 'onOrder'"
    return f"""
changes AS (
    INSERT INTO inventory_change (event_id, kind, item_id, movement)
    {item_changes}SELECT event_id, 'moved', item_id, seq FROM recorded{condition}
    UNION ALL SELECT event_id, 'low', id, NULL::bigint FROM moved WHERE is_low AND NOT was_low
), alerts AS (
    INSERT INTO inventory_alert (event_id, item_id, available)
    SELECT event_id, id, available FROM moved WHERE is_low AND NOT was_low
)"""


def qualified_columns_sql(table: str, names: tuple[str, ...] = ITEM_COLUMN_NAMES) -> str:
    """Return the columns of a table for a SELECT, each with the name of the table."""
    return ", ".join(f"{table}.{name}" for name in names)


def next_moved_at_sql(item: str) -> str:
    """Return the time of a movement of the item with this table alias.

    A movement after a count must have a later time than the count, even when the clock stands still.
    """
    return f"greatest(clock_timestamp(), {item}.moved_at + interval '1 microsecond')"
