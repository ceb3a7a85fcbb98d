"""Uploaded files of sold tickets, until they are imported

Revision ID: 0050
Revises: 0049
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0050'
down_revision = '0049'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        'ticket_upload',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('account_id', OBJECT_ID, nullable=False),
        sa.Column('file_name', sa.String(200), nullable=True),
        sa.Column('data', sa.LargeBinary, nullable=True),
        sa.Column('size', sa.Integer, nullable=False),
        sa.Column('rows', sa.Integer, nullable=False),
        sa.Column('sample', JSONB, nullable=False),
        sa.Column('format', sa.String(20), nullable=True),
        sa.Column('options', JSONB, server_default=sa.text("'{}'"), nullable=False),
        sa.Column('asked_at', MOMENT, nullable=True),
        sa.Column('progress', sa.SmallInteger, server_default=sa.text('0'), nullable=False),
        sa.Column('result', JSONB, nullable=True),
        sa.Column('import_id', OBJECT_ID, nullable=True),
        sa.Column('created_at', MOMENT, server_default=sa.text('now()'), nullable=False),
        sa.ForeignKeyConstraint(
            ['event_id'], ['event.id'], name=op.f('fk_ticket_upload_event_id_event'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_ticket_upload')),
    )
    op.create_index('ix_ticket_upload_created', 'ticket_upload', ['created_at'])
    op.create_index('ix_ticket_upload_event', 'ticket_upload', ['event_id', 'account_id'])


def downgrade() -> None:
    op.drop_table('ticket_upload')
