"""Payouts to new destinations: until when they rest, and when their owner was told.

Revision ID: 0014
Revises: 0013
Create Date: 2026-11-22 10:50:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column('payout', sa.Column('held_until', MOMENT, nullable=True))
    op.add_column('payout', sa.Column('owner_told_at', MOMENT, nullable=True))
    op.create_index(
        'ix_payout_account_paid', 'payout', ['account_id', 'wallet_mark'], unique=False,
        postgresql_where=sa.text("status = 'paid'"),
    )


def downgrade() -> None:
    op.drop_index('ix_payout_account_paid', table_name='payout')
    op.drop_column('payout', 'owner_told_at')
    op.drop_column('payout', 'held_until')
