"""Files: what long work makes for an organisation

Revision ID: 0055
Revises: 0054
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0055'
down_revision = '0054'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
TIMESTAMP = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        'organisation_file',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('organisation_id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID),
        sa.Column('account_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(40), nullable=False),
        sa.Column('permission', sa.String(40), nullable=False),
        sa.Column('parameters', JSONB, server_default=sa.text("'{}'"), nullable=False),
        sa.Column('input', sa.LargeBinary),
        sa.Column('status', sa.String(10), server_default='queued', nullable=False),
        sa.Column('progress', sa.SmallInteger, server_default=sa.text('0'), nullable=False),
        sa.Column('message', sa.String(500)),
        sa.Column('name', sa.String(120)),
        sa.Column('content_type', sa.String(120)),
        sa.Column('content', sa.LargeBinary),
        sa.Column('created_at', TIMESTAMP, server_default=sa.func.now(), nullable=False),
        sa.Column('finished_at', TIMESTAMP),
        sa.Column('expires_at', TIMESTAMP, server_default=sa.text("now() + interval '7 days'"), nullable=False),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'done', 'failed')", name=op.f('ck_organisation_file_status')
        ),
        sa.CheckConstraint(
            "content IS NULL OR status IN ('done', 'failed')", name=op.f('ck_organisation_file_content')
        ),
        sa.ForeignKeyConstraint(
            ['organisation_id'],
            ['account.id'],
            name=op.f('fk_organisation_file_organisation_id_account'),
            ondelete='CASCADE',
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_organisation_file')),
    )
    op.create_index(
        'ix_organisation_file_organisation', 'organisation_file', ['organisation_id', 'created_at', 'id']
    )
    op.create_index('ix_organisation_file_expiry', 'organisation_file', ['expires_at'])


def downgrade() -> None:
    op.drop_table('organisation_file')
