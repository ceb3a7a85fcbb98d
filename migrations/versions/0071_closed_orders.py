"""Stock: purchase orders that are received or cancelled

Revision ID: 0071
Revises: 0070
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0071'
down_revision = '0070'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            "ALTER TABLE inventory_order ADD COLUMN IF NOT EXISTS status varchar(10) NOT NULL DEFAULT 'open',"
            ' ADD COLUMN IF NOT EXISTS closed_at timestamptz'
        )
        execute_with_short_lock('ALTER TABLE inventory_order_line ADD COLUMN IF NOT EXISTS received numeric(13, 3)')
        # What is on order of an item belongs to its newest orders. Of the others, all that came was recorded with the items.
        op.execute(
            """
            WITH expected AS (
                SELECT l.order_id, i.on_order > coalesce(sum(l.quantity) OVER newer, 0) AS is_expected
                  FROM inventory_order_line l
                  JOIN inventory_order o ON o.id = l.order_id AND o.event_id = l.event_id
                  JOIN inventory_item i ON i.id = l.item_id AND i.event_id = l.event_id
                WINDOW newer AS (PARTITION BY l.item_id ORDER BY o.created_at DESC, o.id DESC
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            )
            UPDATE inventory_order o SET status = 'received', closed_at = now()
             WHERE status = 'open' AND NOT EXISTS (SELECT FROM expected e WHERE e.order_id = o.id AND e.is_expected)
            """
        )
        execute_with_short_lock(
            'ALTER TABLE inventory_order DROP CONSTRAINT IF EXISTS ck_inventory_order_status,'
            " ADD CONSTRAINT ck_inventory_order_status CHECK (status IN ('open', 'received', 'cancelled')"
            " AND (status = 'open') = (closed_at IS NULL)) NOT VALID"
        )
        op.execute('ALTER TABLE inventory_order VALIDATE CONSTRAINT ck_inventory_order_status')


def downgrade() -> None:
    op.drop_column('inventory_order_line', 'received')
    op.drop_constraint('ck_inventory_order_status', 'inventory_order')
    op.drop_column('inventory_order', 'closed_at')
    op.drop_column('inventory_order', 'status')
