"""Organisations that take stall fees by bank transfer only

Revision ID: 0065
Revises: 0064
"""

import sqlalchemy as sa
from alembic import op

revision = '0065'
down_revision = '0064'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        'organiser_profile', sa.Column('transfers_only', sa.Boolean(), nullable=False, server_default=sa.text('false'))
    )


def downgrade() -> None:
    op.drop_column('organiser_profile', 'transfers_only')
