"""Mails about an event that could not be delivered

Revision ID: 0060
Revises: 0059
"""

import sqlalchemy as sa
from alembic import op

revision = '0060'
down_revision = '0059'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')


def upgrade() -> None:
    op.create_table(
        'failed_mail',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(60), nullable=False),
        sa.Column('application_id', OBJECT_ID),
        sa.Column('block_id', OBJECT_ID),
        sa.Column('address', sa.String(254), nullable=False),
        sa.Column('reason', sa.String(500), nullable=False),
        sa.Column('failed_at', sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_failed_mail')),
    )
    op.create_index('ix_failed_mail_event', 'failed_mail', ['event_id', 'failed_at', 'id'])


def downgrade() -> None:
    op.drop_table('failed_mail')
