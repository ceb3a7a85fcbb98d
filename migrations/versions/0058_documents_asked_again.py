"""Documents that a decider asks for again: when and why, and when the documents of an application became due again

Revision ID: 0058
Revises: 0057
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0058'
down_revision = '0057'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            'ALTER TABLE application_document ADD COLUMN IF NOT EXISTS asked_again_at timestamptz,'
            ' ADD COLUMN IF NOT EXISTS asked_again_reason varchar(500)'
        )
        execute_with_short_lock(
            'ALTER TABLE merchant_application ADD COLUMN IF NOT EXISTS documents_reopened_at timestamptz'
        )


def downgrade() -> None:
    op.drop_column('merchant_application', 'documents_reopened_at')
    op.drop_column('application_document', 'asked_again_reason')
    op.drop_column('application_document', 'asked_again_at')
