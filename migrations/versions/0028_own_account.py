"""Accounts: language, second factor, and changes of address that can be undone

The version that is running reads none of the columns and tables. Until all of its processes are replaced, they sign in
without a second factor, also accounts that have just turned one on, and do not reserve addresses.

Revision ID: 0028
Revises: 0027
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import execute_with_short_lock

revision = '0028'
down_revision = '0027'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)


def _account_id(**options: bool) -> sa.Column[str]:
    return sa.Column('account_id', OBJECT_ID, sa.ForeignKey('account.id', ondelete='CASCADE'), nullable=False, **options)


def upgrade() -> None:
    execute_with_short_lock('ALTER TABLE account ADD COLUMN language varchar(2), ADD COLUMN second_factor_since timestamptz')
    op.create_table(
        'second_factor',
        _account_id(primary_key=True),
        sa.Column('secret', sa.String(200), nullable=False),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('last_step', sa.BigInteger()),
    )
    op.create_table(
        'recovery_code',
        _account_id(primary_key=True),
        sa.Column('code_hash', sa.CHAR(64), primary_key=True),
        sa.Column('used_at', MOMENT),
    )
    op.create_table(
        'sign_in_challenge',
        sa.Column('token_hash', sa.CHAR(64), primary_key=True),
        _account_id(index=True),
        sa.Column('password_version', sa.Integer(), nullable=False),
        sa.Column('tries', sa.Integer(), nullable=False),
        sa.Column('expires_at', MOMENT, nullable=False, index=True),
    )
    op.create_table(
        'address_change',
        sa.Column('id', OBJECT_ID, primary_key=True),
        _account_id(),
        sa.Column('old_email', sa.String(254), nullable=False),
        sa.Column('new_email', sa.String(254), nullable=False),
        sa.Column('password_version', sa.Integer(), nullable=False),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('confirmed_at', MOMENT),
        sa.Column('undo_hash', sa.CHAR(64), unique=True),
        sa.Column('undo_until', MOMENT),
        sa.Column('ended_at', MOMENT),
    )
    op.create_index('ix_address_change_account', 'address_change', ['account_id', 'confirmed_at'])
    op.create_index(
        'ix_address_change_reserved', 'address_change', ['old_email'],
        postgresql_where=sa.text('confirmed_at IS NOT NULL AND ended_at IS NULL'),
    )
    op.create_index(
        'uq_address_change_pending', 'address_change', ['account_id'], unique=True,
        postgresql_where=sa.text('confirmed_at IS NULL AND ended_at IS NULL'),
    )


def downgrade() -> None:
    for table in ('address_change', 'sign_in_challenge', 'recovery_code', 'second_factor'):
        op.drop_table(table)
    op.execute('ALTER TABLE account DROP COLUMN language, DROP COLUMN second_factor_since')
