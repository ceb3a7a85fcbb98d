"""Accounts: whether the members of an organisation need a second factor

Revision ID: 0031
Revises: 0030
"""

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0031'
down_revision = '0030'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            'ALTER TABLE organiser_profile'
            ' ADD COLUMN IF NOT EXISTS requires_second_factor BOOLEAN DEFAULT false NOT NULL'
        )


def downgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE organiser_profile DROP COLUMN IF EXISTS requires_second_factor')
