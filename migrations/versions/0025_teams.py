"""Accounts: team members and invitations, devices and API keys

Every organiser and merchant is the owner of a team of one without a row, so there is nothing to fill.

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = '0025'
down_revision = '0024'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
KINDS = "kind IN ('organiser', 'merchant')"
ROLES = "role IN ('owner', 'manager', 'finance', 'door', 'stock', 'messages', 'viewer', 'cashier')"


def upgrade() -> None:
    op.create_table(
        'team_member',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('team_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(10), nullable=False),
        sa.Column('account_id', OBJECT_ID, nullable=False),
        sa.Column('role', sa.String(10), nullable=False),
        sa.Column('event_ids', ARRAY(OBJECT_ID), nullable=True),
        sa.Column('invited_by', OBJECT_ID, nullable=True),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint(KINDS, name=op.f('ck_team_member_kind')),
        sa.CheckConstraint(ROLES, name=op.f('ck_team_member_role')),
        sa.CheckConstraint('event_ids IS NULL OR cardinality(event_ids) > 0', name=op.f('ck_team_member_event_ids')),
        sa.ForeignKeyConstraint(
            ['team_id'], ['account.id'], name=op.f('fk_team_member_team_id_account'), ondelete='CASCADE'
        ),
        sa.ForeignKeyConstraint(
            ['account_id'], ['account.id'], name=op.f('fk_team_member_account_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_team_member')),
        sa.UniqueConstraint('account_id', 'team_id', 'kind', name=op.f('uq_team_member_account_id_team_id_kind')),
    )
    op.create_index('ix_team_member_team', 'team_member', ['team_id', 'kind'])
    op.create_table(
        'team_invite',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('team_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(10), nullable=False),
        sa.Column('email', sa.String(254), nullable=False),
        sa.Column('role', sa.String(10), nullable=False),
        sa.Column('event_ids', ARRAY(OBJECT_ID), nullable=True),
        sa.Column('token_hash', sa.CHAR(64), nullable=False),
        sa.Column('invited_by', OBJECT_ID, nullable=False),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('expires_at', MOMENT, nullable=False),
        sa.Column('ended_at', MOMENT, nullable=True),
        sa.Column('outcome', sa.String(10), nullable=True),
        sa.CheckConstraint(KINDS, name=op.f('ck_team_invite_kind')),
        sa.CheckConstraint(ROLES, name=op.f('ck_team_invite_role')),
        sa.ForeignKeyConstraint(
            ['team_id'], ['account.id'], name=op.f('fk_team_invite_team_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_team_invite')),
        sa.UniqueConstraint('token_hash', name=op.f('uq_team_invite_token_hash')),
    )
    op.create_index('ix_team_invite_team', 'team_invite', ['team_id', 'kind'])
    op.create_index(
        'uq_team_invite_open',
        'team_invite',
        ['team_id', 'kind', 'email'],
        unique=True,
        postgresql_where=sa.text('ended_at IS NULL'),
    )
    op.create_table(
        'device',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(10), nullable=False),
        sa.Column('name', sa.String(80), nullable=False),
        sa.Column('pairing_hash', sa.CHAR(64), nullable=True),
        sa.Column('pairing_expires_at', MOMENT, nullable=False),
        sa.Column('token_hash', sa.CHAR(64), nullable=True),
        sa.Column('created_by', OBJECT_ID, nullable=False),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('paired_at', MOMENT, nullable=True),
        sa.Column('last_seen_at', MOMENT, nullable=True),
        sa.Column('ended_at', MOMENT, nullable=True),
        sa.CheckConstraint("kind IN ('gate', 'stock')", name=op.f('ck_device_kind')),
        sa.ForeignKeyConstraint(
            ['event_id'], ['event.id'], name=op.f('fk_device_event_id_event'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('event_id', 'id', name=op.f('pk_device')),
    )
    for column in ('pairing_hash', 'token_hash'):
        op.create_index(
            f'ix_device_{column}', 'device', [column], postgresql_where=sa.text(f'{column} IS NOT NULL')
        )
    op.create_table(
        'api_key',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('organisation_id', OBJECT_ID, nullable=False),
        sa.Column('name', sa.String(80), nullable=False),
        sa.Column('scopes', ARRAY(sa.String(20)), nullable=False),
        sa.Column('key_hash', sa.CHAR(64), nullable=False),
        sa.Column('hint', sa.String(4), nullable=False),
        sa.Column('created_by', OBJECT_ID, nullable=False),
        sa.Column('created_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column('expires_at', MOMENT, nullable=True),
        sa.Column('last_used_at', MOMENT, nullable=True),
        sa.Column('ended_at', MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ['organisation_id'], ['account.id'], name=op.f('fk_api_key_organisation_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_api_key')),
        sa.UniqueConstraint('key_hash', name=op.f('uq_api_key_key_hash')),
    )
    op.create_index('ix_api_key_organisation', 'api_key', ['organisation_id', 'created_at'])


def downgrade() -> None:
    for table in ('api_key', 'device', 'team_invite', 'team_member'):
        op.drop_table(table)
