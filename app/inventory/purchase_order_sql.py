"""The SQL of purchase orders: what is due, making the orders, and what arrives of one.

A reorder locks the low items, creates the purchase orders and records the movements. When two run at the same time, the
second waits for the first and no longer finds its items due.
"""

from sqlalchemy import text

from app.core.ids import NEW_ID_SQL
from app.inventory.sql import CHANNEL, INSERT_MOVEMENTS_CTE, next_moved_at_sql, record_changes_sql

MAX_ITEMS = 2000
DUE_CONDITION_SQL = "i.is_low AND i.archived_at IS NULL AND i.available + i.on_order <= i.reorder_level"
ORDER_QUANTITY_SQL = "greatest(i.min_order_qty, i.par_level - i.available - i.on_order)"
_DUE_ITEMS_SQL = f"""
    SELECT i.id, i.supplier, {ORDER_QUANTITY_SQL} AS quantity FROM inventory_item i
     WHERE i.event_id = :event AND {DUE_CONDITION_SQL} AND {ORDER_QUANTITY_SQL} > 0
       AND (CAST(:ids AS text[]) IS NULL OR i.id = ANY(CAST(:ids AS text[])))
     ORDER BY i.id LIMIT :most
"""
UNFILLED_ITEMS_SQL = text(f"""
    SELECT i.id, i.name, i.available, i.on_order, i.unit, i.version FROM inventory_item i
     WHERE i.event_id = :event AND {DUE_CONDITION_SQL} AND {ORDER_QUANTITY_SQL} <= 0 ORDER BY lower(i.name), i.id LIMIT :most
""")
_LINE_COLUMNS = "i.id, i.supplier, i.sku, i.name, i.unit, i.cost_price"
PREVIEW_ORDERS_SQL = text(f"""
    SELECT NULL AS order_id, {_LINE_COLUMNS}, due.quantity FROM ({_DUE_ITEMS_SQL}) due JOIN inventory_item i USING (id)
     WHERE i.event_id = :event ORDER BY i.supplier NULLS LAST, i.sku_key
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
      FROM due JOIN grouped ON grouped.supplier IS NOT DISTINCT FROM due.supplier
     WHERE i.id = due.id AND i.event_id = :event
    RETURNING i.*, grouped.order_id, due.quantity, i.is_low AS was_low
), lines AS (
    INSERT INTO inventory_order_line (order_id, item_id, event_id, sku, name, unit, quantity, cost_price)
    SELECT order_id, id, event_id, sku, name, unit, quantity, cost_price FROM moved
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

LOCK_ORDER_SQL = text("SELECT status FROM inventory_order WHERE id = :order AND event_id = :event FOR NO KEY UPDATE")
LINES_SQL = text("""
    SELECT item_id, sku, name, unit, quantity, received FROM inventory_order_line
     WHERE order_id = :order AND event_id = :event ORDER BY sku
""")
ITEMS_SQL = text("""
    SELECT id, on_hand, on_order, archived_at FROM inventory_item WHERE id = ANY(:ids) AND event_id = :event
""")
LOCK_ITEMS_SQL = text(f"{ITEMS_SQL} ORDER BY id FOR NO KEY UPDATE")
NEWER_LINES_SQL = text("""
    SELECT n.item_id, sum(greatest(0, n.quantity - coalesce(n.received, 0))) AS quantity
      FROM inventory_order o JOIN inventory_order_line n ON n.order_id = o.id AND n.event_id = o.event_id
     WHERE o.event_id = :event AND o.status = 'open' AND n.item_id = ANY(:ids)
       AND (o.created_at, o.id) > (SELECT created_at, id FROM inventory_order WHERE id = :order AND event_id = :event)
     GROUP BY n.item_id
""")
# What has arrived is on hand, and what is released is not on order any more. What was not on order before was recorded with
# the item, and has arrived as well.
RECEIVE_LINES_SQL = text(f"""
WITH arrived AS (
    SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:quantities AS numeric[]), CAST(:expected AS numeric[]),
                         CAST(:released AS numeric[])) AS line (id, quantity, expected, released)
), previous AS (
    SELECT id, on_order FROM inventory_item WHERE id = ANY(CAST(:ids AS text[])) AND event_id = :event
), moved AS (
    UPDATE inventory_item i
       SET on_hand = i.on_hand + a.quantity, on_order = greatest(0, p.on_order - a.released), version = i.version + 1,
           moved_at = CASE WHEN a.quantity > 0 THEN {next_moved_at_sql("i")} ELSE i.moved_at END, updated_at = now()
      FROM arrived a JOIN previous p ON p.id = a.id
     WHERE i.id = a.id AND i.event_id = :event
    RETURNING i.*, a.quantity, p.on_order - i.on_order AS not_on_order, true AS was_low
), lines AS (
    UPDATE inventory_order_line l
       SET received = a.quantity + greatest(l.quantity - a.expected, coalesce(l.received, 0)) FROM arrived a
     WHERE l.order_id = :order AND l.item_id = a.id AND l.event_id = :event
), entries AS (
    SELECT event_id, id AS item_id, 'onHand' AS bucket, quantity AS delta, on_hand AS on_hand_after,
           'received' AS reason, NULL AS note, :order AS reference, NULL::numeric AS counted,
           NULL::bigint AS corrects, :caller AS actor_id, moved_at AS occurred_at FROM moved WHERE quantity > 0
    UNION ALL
    SELECT event_id, id, 'onOrder', -not_on_order, on_hand, :reason, :note, :order, NULL, NULL, :caller, now()
      FROM moved WHERE not_on_order > 0
), {INSERT_MOVEMENTS_CTE}, {record_changes_sql(with_on_order=True)}
SELECT pg_notify('{CHANNEL}', :event)
""")
