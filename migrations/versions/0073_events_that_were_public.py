"""Events: whether one that is cancelled was public

Revision ID: 0073
Revises: 0072
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0073'
down_revision = '0072'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE event ADD COLUMN IF NOT EXISTS was_public boolean NOT NULL DEFAULT false')


def downgrade() -> None:
    op.drop_column('event', 'was_public')
