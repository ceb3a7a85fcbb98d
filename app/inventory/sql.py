"""The SQL of changed quantities.

A statement that changes quantities updates the items in `moved` (their new values and `was_low`) and lists the movements
in `entries`. `INSERT_MOVEMENTS_CTE` inserts these movements and `record_changes_sql` notes the changes for streams and
alerts.
"""

from sqlalchemy import text

from app.core.change_positions import POSITION_SQL
from app.core.spreadsheet_cells import escape_sql
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
    "archived_at",
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


VARIANCE_SQL = """
    SELECT i.id, i.sku, i.name, i.unit, i.category, i.storage_location, v.counts, v.counted_at,
           v.counted - v.variance AS expected, v.counted, v.variance, i.cost_price,
           round(v.variance * i.cost_price, 2) AS value
      FROM (SELECT item_id, coalesce(sum(delta) FILTER (WHERE reason <> 'sold'), 0) AS variance, count(counted)::int AS counts,
                   max(occurred_at) FILTER (WHERE counted IS NOT NULL) AS counted_at,
                   (array_agg(counted ORDER BY occurred_at DESC, seq DESC) FILTER (WHERE counted IS NOT NULL))[1]
                       AS counted
              FROM inventory_movement
             WHERE event_id = {event} AND bucket = 'onHand' AND (counted IS NOT NULL OR corrects IS NOT NULL)
               AND occurred_at >= {since} AND occurred_at <= {until}
             GROUP BY item_id) v
      JOIN inventory_item i ON i.id = v.item_id
"""

VARIANCE_CSV_SQL = f"""
    SELECT {", ".join(escape_sql(name) for name in ("sku", "name", "unit", "category", "storage_location"))},
           counts, to_char(counted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), trim_scale(expected),
           trim_scale(counted), trim_scale(variance), trim_scale(cost_price), value
      FROM ({VARIANCE_SQL.format(event="%(event)s", since="%(since)s", until="%(until)s")}) counted ORDER BY lower(name), id
"""

MOVEMENT_SUMS_SQL = """
    SELECT i.event_id, i.id, i.sku, bucket.name, bucket.quantity, coalesce(m.total, 0)
      FROM inventory_item i
     CROSS JOIN LATERAL (VALUES ('onHand', i.on_hand), ('reserved', i.reserved), ('damaged', i.damaged),
                                ('onOrder', i.on_order)) AS bucket (name, quantity)
      LEFT JOIN (SELECT item_id, bucket, sum(delta) AS total FROM inventory_movement GROUP BY item_id, bucket) m
        ON m.item_id = i.id AND m.bucket = bucket.name
     WHERE bucket.quantity <> coalesce(m.total, 0) AND (%(event)s::text IS NULL OR i.event_id = %(event)s)
     ORDER BY i.event_id, i.id LIMIT %(most)s
"""

COUNTS_SQL = """
    SELECT b.event_id, b.item_id, i.sku, 'count of ' || b.bucket || ' at ' || b.occurred_at, b.counted, b.total
      FROM (SELECT m.event_id, m.item_id, m.bucket, m.occurred_at, m.counted,
                   sum(m.delta) OVER (PARTITION BY m.item_id, m.bucket ORDER BY m.occurred_at) AS total,
                   row_number() OVER (PARTITION BY m.item_id, m.bucket, m.occurred_at
                                      ORDER BY m.counted IS NULL, m.seq DESC) AS place
              FROM inventory_movement m WHERE %(event)s::text IS NULL OR m.event_id = %(event)s) b
      JOIN inventory_item i ON i.id = b.item_id
     WHERE b.counted IS NOT NULL AND b.place = 1 AND b.counted <> b.total
     ORDER BY b.event_id, b.item_id LIMIT %(most)s
"""

CHANGES_SQL = f"""
WITH reader AS MATERIALIZED ({POSITION_SQL} AS position)
SELECT reader.position, p.number, c.seq, c.kind, c.item_id, c.movement
  FROM reader CROSS JOIN unnest(%(snapshots)s::text[]::pg_snapshot[]) WITH ORDINALITY p(snapshot, number)
  LEFT JOIN LATERAL (SELECT seq, kind, item_id, movement FROM inventory_change
                      WHERE event_id = %(event)s AND xid >= pg_snapshot_xmin(p.snapshot)
                        AND NOT pg_visible_in_snapshot(xid, p.snapshot)
                      ORDER BY seq LIMIT %(most)s) c ON true
 ORDER BY p.number, c.seq
"""

TAKE_ALERTS_SQL = text("""
    WITH alerts AS (
        DELETE FROM inventory_alert WHERE seq IN (
            SELECT seq FROM inventory_alert ORDER BY seq LIMIT :page FOR UPDATE SKIP LOCKED)
        RETURNING seq, event_id, item_id, available
    )
    SELECT t.event_id, r.recipients, max(t.seq) AS turn,
           jsonb_object_agg(t.item_id, t.available::text ORDER BY t.seq) AS fallen
      FROM alerts t JOIN inventory_reminder r ON r.event_id = t.event_id AND r.enabled AND r.include_low_stock
     GROUP BY t.event_id, r.recipients
""")
