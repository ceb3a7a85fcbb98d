"""Documents of applicants: when a decider accepted one, and who

A document that was opened before counts as accepted since then, as it did not wait any more.

Revision ID: 0070
Revises: 0069
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0070'
down_revision = '0069'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE application_document ADD COLUMN IF NOT EXISTS accepted_at timestamptz')
        execute_with_short_lock(
            'ALTER TABLE application_document ADD COLUMN IF NOT EXISTS accepted_by varchar(24) COLLATE "C"'
            ' CONSTRAINT fk_application_document_accepted_by_account REFERENCES account (id) ON DELETE SET NULL'
        )
        op.execute('DROP INDEX CONCURRENTLY IF EXISTS ix_application_document_accepted_by')
        op.execute(
            'CREATE INDEX CONCURRENTLY ix_application_document_accepted_by ON application_document (accepted_by)'
        )
        op.execute(
            """
            UPDATE application_document SET accepted_at = opened_at
             WHERE opened_at IS NOT NULL AND asked_again_at IS NULL AND accepted_at IS NULL
            """
        )


def downgrade() -> None:
    op.drop_column('application_document', 'accepted_by')
    op.drop_column('application_document', 'accepted_at')
