"""Blocks: the day until which the invoice is to be paid

Revision ID: 0066
Revises: 0065
"""

import sqlalchemy as sa
from alembic import op

revision = '0066'
down_revision = '0065'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('allocation_block', sa.Column('pay_by', sa.Date()))


def downgrade() -> None:
    op.drop_column('allocation_block', 'pay_by')
