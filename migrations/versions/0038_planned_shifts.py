"""Crew: planned shifts, and the secret of a stall's rotating code

Revision ID: 0038
Revises: 0037
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0038'
down_revision = '0037'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
ADDED_COLUMNS = {'plan_version': 'integer NOT NULL DEFAULT 1', 'check_in_secret': 'varchar(120)'}


def upgrade() -> None:
    with beside_traffic():
        for name, definition in ADDED_COLUMNS.items():
            execute_with_short_lock(f'ALTER TABLE participation ADD COLUMN IF NOT EXISTS {name} {definition}')
    op.create_table(
        'planned_shift',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('merchant_id', OBJECT_ID, nullable=False),
        sa.Column('crew_member_id', OBJECT_ID, nullable=False),
        sa.Column('starts_at', MOMENT, nullable=False),
        sa.Column('ends_at', MOMENT, nullable=False),
        sa.Column('note', sa.String(200), nullable=True),
        sa.CheckConstraint('ends_at > starts_at', name=op.f('ck_planned_shift_ends_after_start')),
        sa.ForeignKeyConstraint(
            ['crew_member_id', 'event_id'],
            ['crew_member.id', 'crew_member.event_id'],
            name=op.f('fk_planned_shift_crew_member_id_crew_member'),
        ),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_planned_shift')),
    )
    op.create_index('ix_planned_shift_stall', 'planned_shift', ['merchant_id', 'event_id', 'starts_at'])
    op.create_index('ix_planned_shift_member', 'planned_shift', ['crew_member_id', 'event_id'])


def downgrade() -> None:
    op.drop_table('planned_shift')
    with beside_traffic():
        for name in ADDED_COLUMNS:
            execute_with_short_lock(f'ALTER TABLE participation DROP COLUMN IF EXISTS {name}')
