"""Applications: stall fees received by bank transfer, and waived ones

Revision ID: 0033
Revises: 0032
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0033'
down_revision = '0032'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE merchant_application ADD COLUMN IF NOT EXISTS waived_at timestamptz')
    op.create_table(
        'stall_fee_record',
        sa.Column('application_id', OBJECT_ID, nullable=False),
        sa.Column('kind', sa.String(10), nullable=False),
        sa.Column('amount_minor', sa.BigInteger, nullable=False),
        sa.Column('reference', sa.String(80), nullable=True),
        sa.Column('received_on', sa.Date, nullable=True),
        sa.Column('reason', sa.String(500), nullable=True),
        sa.Column('recorded_by', OBJECT_ID, nullable=False),
        sa.Column('recorded_at', MOMENT, server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint("kind IN ('received', 'waived')", name=op.f('ck_stall_fee_record_kind')),
        sa.CheckConstraint('amount_minor > 0', name=op.f('ck_stall_fee_record_amount')),
        sa.CheckConstraint(
            "(kind = 'received') = (received_on IS NOT NULL AND reference IS NOT NULL)",
            name=op.f('ck_stall_fee_record_received'),
        ),
        sa.ForeignKeyConstraint(
            ['application_id'],
            ['merchant_application.id'],
            name=op.f('fk_stall_fee_record_application_id_merchant_application'),
            ondelete='CASCADE',
        ),
        sa.PrimaryKeyConstraint('application_id', name=op.f('pk_stall_fee_record')),
    )


def downgrade() -> None:
    op.drop_table('stall_fee_record')
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE merchant_application DROP COLUMN IF EXISTS waived_at')
