"""The set-based half of an import: rows are staged by COPY, compared with what is there, and written together."""

from sqlalchemy import text

from app.core.ids import NEW_ID_SQL
from app.inventory.book import CHANNEL, NEXT_MOMENT
from app.inventory.columns import ATTRIBUTES, BUCKETS, COLUMNS, DATE, PLACES
from app.inventory.importing.reading import STAGED

EACH_TOLD = 500
"""Beyond so many items a listener is told once, and looks again."""

_TYPES = {
    column.attribute: "numeric" if column.kind in PLACES else "date" if column.kind == DATE else "text"
    for column in COLUMNS
}
_NEW = ", ".join(f"coalesce(s.{attribute}, i.{attribute}) AS {attribute}" for attribute in ATTRIBUTES)
_SAME = ", ".join(f"coalesce(s.{attribute}, i.{attribute})" for attribute in ATTRIBUTES)
_AS_IS = ", ".join(f"i.{attribute}" for attribute in ATTRIBUTES)
_WAS = ", ".join(f"coalesce(i.{item}, 0) AS was_{item}" for item in BUCKETS.values())
_DELTAS = ", ".join(f"('{bucket}', p.{item} - p.was_{item})" for bucket, item in BUCKETS.items())
ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('inventory-import:' || :event, 0))")
STAGING = text(f"""
    CREATE TEMP TABLE stock_staging (
        row int, sku_key text COLLATE "C", {", ".join(f"{name} {kind}" for name, kind in _TYPES.items())}
    ) ON COMMIT DROP
""")
COPY = f"COPY stock_staging ({', '.join(STAGED)}) FROM STDIN"
ANALYZE = text("ANALYZE stock_staging (row, sku_key)")
PLAN = text(f"""
    CREATE TEMP TABLE stock_plan ON COMMIT DROP AS
    SELECT s.row, s.sku_key, coalesce(i.id, {NEW_ID_SQL}) AS id, i.id IS NOT NULL AS known, i.is_low AS was_low, {_WAS},
           {_NEW}, i.id IS NOT NULL AND ROW({_SAME}) IS NOT DISTINCT FROM ROW({_AS_IS}) AS same
      FROM stock_staging s
      LEFT JOIN (SELECT known.* FROM inventory_item known
                  WHERE known.event_id = :event AND known.sku_key IN (SELECT sku_key FROM stock_staging)
                  ORDER BY known.id FOR NO KEY UPDATE OF known) i ON i.sku_key = s.sku_key
""")
_MISSING = "\n UNION ALL ".join(
    f"SELECT row, '{column.name}', 'required', sku FROM stock_plan WHERE NOT known AND {column.attribute} IS NULL"
    for column in COLUMNS
    if column.required
)
WRONG = text(f"""
    {_MISSING}
    UNION ALL SELECT row, 'onHand', 'insufficient_stock', on_hand::text FROM stock_plan
     WHERE on_hand - reserved - damaged < 0
    ORDER BY 1
""")
LEAVE_OUT = text("DELETE FROM stock_plan WHERE row = ANY(:rows)")
COUNTS = text("""
    SELECT count(*) FILTER (WHERE NOT known) AS created, count(*) FILTER (WHERE known AND NOT same) AS updated,
           count(*) FILTER (WHERE same) AS unchanged FROM stock_plan
""")
# In the order of names, because that is how most of the indexes stand: a sixth of what PostgreSQL does here.
INSERT = text(f"""
    INSERT INTO inventory_item (id, event_id, sku_key, {", ".join(ATTRIBUTES)})
    SELECT id, :event, sku_key, {", ".join(ATTRIBUTES)} FROM stock_plan WHERE NOT known ORDER BY lower(name)
""")
OPENING = text(f"""
    INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, note, actor_id,
                                    occurred_at)
    SELECT :event, p.id, entry.bucket, entry.delta, p.on_hand, 'correction', 'import', :caller, now()
      FROM stock_plan p, LATERAL (VALUES {_DELTAS}) AS entry (bucket, delta) WHERE NOT p.known AND entry.delta <> 0
""")
UPDATE = text(f"""
    WITH moved AS (
        UPDATE inventory_item i
           SET {", ".join(f"{attribute} = p.{attribute}" for attribute in ATTRIBUTES)},
               version = i.version + 1, updated_at = now(),
               moved_at = {NEXT_MOMENT}
          FROM stock_plan p WHERE i.id = p.id AND p.known AND NOT p.same
        RETURNING i.id, i.moved_at, i.on_hand, i.available, i.is_low
    ), booked AS (
        INSERT INTO inventory_movement (event_id, item_id, bucket, delta, on_hand_after, reason, note, actor_id,
                                        occurred_at)
        SELECT :event, p.id, entry.bucket, entry.delta, moved.on_hand, 'correction', 'import', :caller, moved.moved_at
          FROM moved JOIN stock_plan p ON p.id = moved.id, LATERAL (VALUES {_DELTAS}) AS entry (bucket, delta)
         WHERE entry.delta <> 0
    )
    INSERT INTO inventory_alert (event_id, item_id, available)
    SELECT :event, moved.id, moved.available FROM moved JOIN stock_plan p ON p.id = moved.id
     WHERE moved.is_low AND NOT p.was_low
""")
TELL = text(f"""
    WITH touched AS (SELECT id, known FROM stock_plan WHERE NOT same), told AS (
        INSERT INTO inventory_change (event_id, kind, item_id)
        SELECT :event, CASE WHEN known THEN 'changed' ELSE 'created' END, id FROM touched WHERE NOT :many
        UNION ALL SELECT :event, 'many', NULL WHERE :many
    )
    SELECT pg_notify('{CHANNEL}', :event)
""")
KEEP_DIGEST = text("""
    INSERT INTO inventory_import (event_id, digest) VALUES (:event, :digest) ON CONFLICT DO NOTHING
""")
SEEN = text("SELECT at FROM inventory_import WHERE event_id = :event AND digest = :digest")
"""When these bytes changed this stock as a whole, if they have."""
