"""Limits on bookings: uses of a promo code are found by an index, and unverified organisers have a quota.

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
    op.create_table(
        'unverified_use',
        sa.Column('account_id', sa.String(length=24, collation='C'), nullable=False),
        sa.Column('quota', sa.String(length=20), nullable=False),
        sa.Column('used', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['account.id'], name=op.f('fk_unverified_use_account_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', 'quota', name=op.f('pk_unverified_use')),
    )


def downgrade() -> None:
    op.drop_table('unverified_use')
    op.drop_index('ix_allocation_block_promo_code', table_name='allocation_block')
