"""The language in which a person applied for a stall or claimed a ticket, for the mails to them.

Null: not known, which is English.

Revision ID: 0030
Revises: 0029
"""

import sqlalchemy as sa
from alembic import op

revision = '0030'
down_revision = '0029'
branch_labels = None
depends_on = None

TABLES = ('merchant_application', 'allocation_slot')


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column('language', sa.String(2)))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, 'language')
