"""Blocks: who buys, for the invoice. The gate: refused scans

Revision ID: 0057
Revises: 0056
"""

import sqlalchemy as sa
from alembic import op

revision = '0057'
down_revision = '0056'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
BUYER_COLUMNS = {'buyer_name': 200, 'buyer_address': 500, 'buyer_vat_number': 20, 'buyer_reference': 80}


def upgrade() -> None:
    for name, length in BUYER_COLUMNS.items():
        op.add_column('allocation_block', sa.Column(name, sa.String(length)))
    op.create_table(
        'refused_scan',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('reason', sa.String(40), nullable=False),
        sa.Column('place_kind', sa.String(10)),
        sa.Column('place_id', OBJECT_ID),
        sa.Column('ticket_type_id', OBJECT_ID),
        sa.Column('code_start', sa.String(8)),
        sa.Column('fingerprint', sa.String(22, collation='C')),
        sa.Column('period', MOMENT, nullable=False),
        sa.Column('times', sa.Integer, server_default=sa.text('1'), nullable=False),
        sa.Column('direction', sa.String(3), server_default=sa.text("'in'"), nullable=False),
        sa.Column('gate', sa.String(80)),
        sa.Column('actor_kind', sa.String(10), nullable=False),
        sa.Column('actor_id', OBJECT_ID, nullable=False),
        sa.Column('actor_name', sa.String(200)),
        sa.Column('occurred_at', MOMENT, nullable=False),
        sa.Column('recorded_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint("direction IN ('in', 'out')", name=op.f('ck_refused_scan_direction')),
        sa.CheckConstraint('(place_id IS NULL) = (place_kind IS NULL)', name=op.f('ck_refused_scan_place')),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_refused_scan')),
        sa.UniqueConstraint('event_id', 'fingerprint', 'period', name=op.f('uq_refused_scan_event_id_fingerprint_period')),
    )
    op.create_index('ix_refused_scan_event', 'refused_scan', ['event_id', 'occurred_at', 'id'])


def downgrade() -> None:
    op.drop_table('refused_scan')
    for name in reversed(BUYER_COLUMNS):
        op.drop_column('allocation_block', name)
