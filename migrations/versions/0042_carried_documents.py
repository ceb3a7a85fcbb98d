"""Documents that come from an earlier application of the same merchant

Revision ID: 0042
Revises: 0041
"""

from app.core.schema_changes import execute_with_short_lock

revision = '0042'
down_revision = '0041'
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_with_short_lock('ALTER TABLE application_document ADD COLUMN IF NOT EXISTS carried_from varchar(12)')


def downgrade() -> None:
    execute_with_short_lock('ALTER TABLE application_document DROP COLUMN IF EXISTS carried_from')
