"""Accounts: whether the members of an organisation need a second factor

Revision ID: 0031
Revises: 0030
"""

import sqlalchemy as sa
from alembic import op

revision = '0031'
down_revision = '0030'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        'organiser_profile',
        sa.Column('requires_second_factor', sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    op.drop_column('organiser_profile', 'requires_second_factor')
