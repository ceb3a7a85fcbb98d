"""Allocations: the plan of a block to release unused places in steps

Revision ID: 0046
Revises: 0045
"""

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0046'
down_revision = '0045'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            "ALTER TABLE allocation_block ADD COLUMN IF NOT EXISTS release_plan jsonb NOT NULL DEFAULT '[]'"
        )


def downgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE allocation_block DROP COLUMN IF EXISTS release_plan')
