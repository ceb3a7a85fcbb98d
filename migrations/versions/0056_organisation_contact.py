"""Organisations: a public contact address of their own

Revision ID: 0056
Revises: 0055
"""

import sqlalchemy as sa
from alembic import op

revision = '0056'
down_revision = '0055'
branch_labels = None
depends_on = None

COLUMNS = ('contact_email', 'pending_contact_email')


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column('organiser_profile', sa.Column(name, sa.String(254)))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column('organiser_profile', name)
