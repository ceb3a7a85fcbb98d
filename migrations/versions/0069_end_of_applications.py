"""Events: until when people may apply for a stall

Revision ID: 0069
Revises: 0068
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0069'
down_revision = '0068'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE event ADD COLUMN IF NOT EXISTS applications_end_at timestamptz')


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM event WHERE applications_end_at IS NOT NULL)')):
        raise RuntimeError('events have an end of their applications, which the version before does not know')
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE event DROP COLUMN IF EXISTS applications_end_at')
