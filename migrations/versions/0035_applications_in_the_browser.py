"""Applications: drafts of the form, and declined invitation links

Revision ID: 0035
Revises: 0034
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0035'
down_revision = "0034"
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE invite_link ADD COLUMN IF NOT EXISTS declined_at timestamptz')
    op.create_table(
        'application_draft',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('invite_slug', sa.String(80), nullable=True),
        sa.Column('email', sa.String(254), nullable=False),
        sa.Column('form_values', JSONB, nullable=False),
        sa.Column('language', sa.String(2), nullable=True),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('expires_at', MOMENT, nullable=False),
        sa.ForeignKeyConstraint(['event_id'], ['event.id'], name=op.f('fk_application_draft_event_id_event')),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_application_draft')),
    )
    op.create_index('ix_application_draft_event', 'application_draft', ['event_id'])
    op.create_index('ix_application_draft_expires', 'application_draft', ['expires_at'])


def downgrade() -> None:
    op.drop_table('application_draft')
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE invite_link DROP COLUMN IF EXISTS declined_at')
