"""The language in which a person applied for a stall or claimed a ticket, for the mails to them.

Null: not known, which is English.

Revision ID: 0030
Revises: 0029
"""

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0030'
down_revision = '0029'
branch_labels = None
depends_on = None

TABLES = ('merchant_application', 'allocation_slot')


def upgrade() -> None:
    with beside_traffic():
        for table in TABLES:
            execute_with_short_lock(f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS language VARCHAR(2)')


def downgrade() -> None:
    with beside_traffic():
        for table in TABLES:
            execute_with_short_lock(f'ALTER TABLE {table} DROP COLUMN IF EXISTS language')
