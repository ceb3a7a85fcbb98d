"""Applications remember when their personal data was erased.

Revision ID: 0020
Revises: 0019
Create Date: 2026-11-22 11:10:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0020'
down_revision = '0019'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('merchant_application', sa.Column('erased_at', sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column('merchant_application', 'erased_at')
