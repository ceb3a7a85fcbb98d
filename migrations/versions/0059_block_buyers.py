"""Blocks: who buys, for the invoice

Revision ID: 0059
Revises: 0056
"""

import sqlalchemy as sa
from alembic import op

revision = '0059'
down_revision = '0056'
branch_labels = None
depends_on = None

COLUMNS = {'buyer_name': 200, 'buyer_address': 500, 'buyer_vat_number': 20, 'buyer_reference': 80}


def upgrade() -> None:
    for name, length in COLUMNS.items():
        op.add_column('allocation_block', sa.Column(name, sa.String(length)))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column('allocation_block', name)
