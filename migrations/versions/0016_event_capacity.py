"""Limits on bookings: uses of a promo code are found by an index.

Revision ID: 0016
Revises: 0012
Create Date: 2026-11-22 11:00:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0016'
down_revision = '0012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute('SET LOCAL statement_timeout = 0')
    op.create_index(
        'ix_allocation_block_promo_code',
        'allocation_block',
        ['event_id', 'promo_code'],
        postgresql_where=sa.text('promo_code IS NOT NULL'),
    )


def downgrade() -> None:
    op.drop_index('ix_allocation_block_promo_code', table_name='allocation_block')
