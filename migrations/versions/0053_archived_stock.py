"""Stock: items can be archived

Revision ID: 0053
Revises: 0050
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0053'
down_revision = '0050'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE inventory_item ADD COLUMN IF NOT EXISTS archived_at timestamptz')
        op.execute('DROP INDEX CONCURRENTLY IF EXISTS ix_inventory_item_archived')
        op.execute(
            'CREATE INDEX CONCURRENTLY ix_inventory_item_archived ON inventory_item (event_id, lower(name), id)'
            ' WHERE archived_at IS NOT NULL'
        )


def downgrade() -> None:
    op.drop_index('ix_inventory_item_archived', table_name='inventory_item')
    op.drop_column('inventory_item', 'archived_at')
