"""Stalls: number, power, water and a note of each stall

Revision ID: 0048
Revises: 0047
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0048'
down_revision = '0047'
branch_labels = None
depends_on = None

ADDED_COLUMNS = {
    'stall_number': 'varchar(20)',
    'power': 'varchar(80)',
    'water': 'boolean NOT NULL DEFAULT false',
    'place_note': 'varchar(500)',
    'place_version': 'integer NOT NULL DEFAULT 1',
}


def upgrade() -> None:
    with beside_traffic():
        for name, definition in ADDED_COLUMNS.items():
            execute_with_short_lock(f'ALTER TABLE participation ADD COLUMN IF NOT EXISTS {name} {definition}')


def downgrade() -> None:
    for name in ADDED_COLUMNS:
        op.drop_column('participation', name)
