"""Accounts: suspension, deletion after a grace period, what admins did, and copies of personal data.

The version that is running reads none of it, and lets a suspended account sign in.

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0029'
down_revision = '0028'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
INDEXES = {
    'ix_account_email_prefix': 'account (email varchar_pattern_ops)',
    'ix_account_name_search': "account USING gin (to_tsvector('simple'::regconfig, name)) WITH (fastupdate = off)",
    'ix_account_deletion_due': 'account (deletion_due_at) WHERE deletion_due_at IS NOT NULL',
}


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock("""
            ALTER TABLE account
                ADD COLUMN IF NOT EXISTS suspended_at timestamptz,
                ADD COLUMN IF NOT EXISTS deletion_due_at timestamptz
        """)
        for name, definition in INDEXES.items():
            op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {name}')
            op.execute(f'CREATE INDEX CONCURRENTLY {name} ON {definition}')
    op.create_table(
        'account_act',
        sa.Column('id', sa.BigInteger, sa.Identity(), nullable=False),
        sa.Column('account_id', OBJECT_ID, nullable=False),
        sa.Column('admin_id', OBJECT_ID, nullable=False),
        sa.Column('verb', sa.String(20), nullable=False),
        sa.Column('reason', sa.String(500), nullable=True),
        sa.Column('owner_told', sa.Boolean, nullable=False),
        sa.Column('not_told_reason', sa.String(500), nullable=True),
        sa.Column('at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint("verb IN ('suspended', 'restored', 'sessions_ended')", name=op.f('ck_account_act_verb')),
        sa.CheckConstraint('owner_told = (not_told_reason IS NULL)', name=op.f('ck_account_act_not_told_reason')),
        sa.ForeignKeyConstraint(
            ['account_id'], ['account.id'], name=op.f('fk_account_act_account_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_account_act')),
    )
    op.create_index('ix_account_act_account', 'account_act', ['account_id', 'id'])
    op.create_table(
        'data_export',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('account_id', OBJECT_ID, nullable=False),
        sa.Column('status', sa.String(10), server_default='queued', nullable=False),
        sa.Column('token_hash', sa.CHAR(64), nullable=True),
        sa.Column('size', sa.BigInteger, nullable=True),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('expires_at', MOMENT, nullable=True),
        sa.CheckConstraint("status IN ('queued', 'done', 'failed')", name=op.f('ck_data_export_status')),
        sa.CheckConstraint(
            "(status = 'done') = (token_hash IS NOT NULL AND expires_at IS NOT NULL)", name=op.f('ck_data_export_done')
        ),
        sa.ForeignKeyConstraint(
            ['account_id'], ['account.id'], name=op.f('fk_data_export_account_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_data_export')),
        sa.UniqueConstraint('token_hash', name=op.f('uq_data_export_token_hash')),
    )
    op.create_index(
        'uq_data_export_queued',
        'data_export',
        ['account_id'],
        unique=True,
        postgresql_where=sa.text("status = 'queued'"),
    )
    op.create_index('ix_data_export_account', 'data_export', ['account_id', 'id'])


def downgrade() -> None:
    """A suspended account could sign in again, so this refuses while there is one."""
    op.execute("""
        DO $$ BEGIN IF EXISTS (SELECT FROM account WHERE suspended_at IS NOT NULL) THEN
            RAISE EXCEPTION 'Restore the suspended accounts first; the earlier version lets them sign in.';
        END IF; END $$
    """)
    op.drop_table('data_export')
    op.drop_table('account_act')
    for name in INDEXES:
        op.execute(f'DROP INDEX IF EXISTS {name}')
    execute_with_short_lock('ALTER TABLE account DROP COLUMN deletion_due_at, DROP COLUMN suspended_at')
