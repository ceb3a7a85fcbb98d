"""Invitations: one that counts for each event and address.

The column is filled for the newest invitation of each address that still counts. The version that is running does not
write it, so it meets no rule that it does not know.

Revision ID: 0019
Revises: 0018
Create Date: 2026-11-22 10:50:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0019'
down_revision = '0018'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('invite_link', sa.Column('invited_address', sa.String(254)))
    op.execute("""
        UPDATE invite_link SET invited_address = email WHERE id IN (
            SELECT DISTINCT ON (event_id, email) id FROM invite_link
             WHERE email IS NOT NULL AND revoked_at IS NULL AND expires_at > now()
               AND (max_uses IS NULL OR uses < max_uses)
             ORDER BY event_id, email, created_at DESC, id DESC)
    """)
    op.create_index(
        'uq_invite_link_invited', 'invite_link', ['event_id', 'invited_address'], unique=True,
        postgresql_where=sa.text('invited_address IS NOT NULL'),
    )


def downgrade() -> None:
    op.drop_index('uq_invite_link_invited', table_name='invite_link')
    op.drop_column('invite_link', 'invited_address')
