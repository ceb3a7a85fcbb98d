"""The statements of a reorder: one locks the low items, creates the purchase orders and records the movements.

When two reorders run at the same time, the second waits for the first and no longer finds its items due.
"""

from sqlalchemy import text

from app.core.ids import NEW_ID_SQL
from app.inventory.movement_sql import CHANNEL, INSERT_MOVEMENTS_CTE, record_changes_sql

MAX_ITEMS = 2000
DUE_CONDITION_SQL = "i.is_low AND i.available + i.on_order <= i.reorder_level"
ORDER_QUANTITY_SQL = "greatest(i.min_order_qty, i.par_level - i.available - i.on_order)"
_DUE_ITEMS_SQL = f"""
    SELECT i.id, i.supplier, {ORDER_QUANTITY_SQL} AS quantity FROM inventory_item i
     WHERE i.event_id = :event AND {DUE_CONDITION_SQL} AND {ORDER_QUANTITY_SQL} > 0
       AND (CAST(:ids AS text[]) IS NULL OR i.id = ANY(CAST(:ids AS text[])))
     ORDER BY i.id LIMIT :most
"""
_LINE_COLUMNS = "i.id, i.supplier, i.sku, i.name, i.unit, i.cost_price"
PREVIEW_ORDERS_SQL = text(f"""
    SELECT NULL AS order_id, {_LINE_COLUMNS}, due.quantity FROM ({_DUE_ITEMS_SQL}) due JOIN inventory_item i USING (id)
     ORDER BY i.supplier NULLS LAST, i.sku_key
""")
CREATE_ORDERS_SQL = text(f"""
WITH due AS ({_DUE_ITEMS_SQL} FOR NO KEY UPDATE), grouped AS (
    SELECT supplier, {NEW_ID_SQL} AS order_id
      FROM due GROUP BY supplier
), ordered AS (
    INSERT INTO inventory_order (id, event_id, supplier, actor_id)
    SELECT order_id, :event, supplier, :caller FROM grouped
), moved AS (
    UPDATE inventory_item i
       SET on_order = i.on_order + due.quantity, version = i.version + 1, updated_at = now()
      FROM due JOIN grouped ON grouped.supplier IS NOT DISTINCT FROM due.supplier WHERE i.id = due.id
    RETURNING i.*, grouped.order_id, due.quantity, i.is_low AS was_low
), lines AS (
    INSERT INTO inventory_order_line (order_id, item_id, sku, name, unit, quantity, cost_price)
    SELECT order_id, id, sku, name, unit, quantity, cost_price FROM moved
), entries AS (
    SELECT event_id, id AS item_id, 'onOrder' AS bucket, quantity AS delta, on_hand AS on_hand_after,
           'correction' AS reason, 'ordered' AS note, order_id AS reference, NULL::numeric AS counted, NULL::bigint AS corrects,
           :caller AS actor_id, now() AS occurred_at FROM moved
), {INSERT_MOVEMENTS_CTE}, {record_changes_sql(with_on_order=True)}, notified AS (
    SELECT pg_notify('{CHANNEL}', :event) FROM (SELECT FROM moved LIMIT 1) first_row
)
SELECT i.order_id, {_LINE_COLUMNS}, i.quantity FROM moved i LEFT JOIN notified ON true
 ORDER BY i.supplier NULLS LAST, i.sku_key
""")
