"""Allocations: whether guests of a block may pass their tickets on, and give them back

Revision ID: 0043
Revises: 0042
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0043'
down_revision = '0042'
branch_labels = None
depends_on = None

COLUMNS = ('guests_may_pass_on', 'guests_may_give_back')


def upgrade() -> None:
    added = ', '.join(f'ADD COLUMN IF NOT EXISTS {name} boolean NOT NULL DEFAULT false' for name in COLUMNS)
    with beside_traffic():
        execute_with_short_lock(f'ALTER TABLE allocation_block {added}')


def downgrade() -> None:
    dropped = ', '.join(f'DROP COLUMN {name}' for name in COLUMNS)
    op.execute(f'ALTER TABLE allocation_block {dropped}')
