"""Documents of applicants: when a decider first opened one; and an index for the history of an application

Revision ID: 0061
Revises: 0060
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0061'
down_revision = '0060'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE application_document ADD COLUMN IF NOT EXISTS opened_at timestamptz')
        op.execute(
            """
            UPDATE application_document d SET opened_at = opened.at
              FROM (SELECT subject_id, min(at) AS at FROM audit_entry WHERE action = 'documents.read' GROUP BY subject_id) opened
             WHERE opened.subject_id = d.id AND d.opened_at IS NULL
            """
        )
        op.execute('DROP INDEX CONCURRENTLY IF EXISTS ix_audit_entry_application')
        op.execute(
            'CREATE INDEX CONCURRENTLY ix_audit_entry_application ON audit_entry (subject_id, at)'
            " WHERE subject_kind = 'application'"
        )


def downgrade() -> None:
    op.drop_index('ix_audit_entry_application', table_name='audit_entry')
    op.drop_column('application_document', 'opened_at')
