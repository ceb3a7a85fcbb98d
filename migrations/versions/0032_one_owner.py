"""Teams: one owner at most

Revision ID: 0032
Revises: 0031
"""

import sqlalchemy as sa
from alembic import op

revision = '0032'
down_revision = '0031'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        'uq_team_member_owner',
        'team_member',
        ['team_id', 'kind'],
        unique=True,
        postgresql_where=sa.text("role = 'owner'"),
    )


def downgrade() -> None:
    op.drop_index('uq_team_member_owner', table_name='team_member')
