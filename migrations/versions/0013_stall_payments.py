"""Stall payments: which tries the rail has answered, captures and refunds, and what a person has to look at.

Revision ID: 0013
Revises: 0012
Create Date: 2026-11-22 10:40:00
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None

OPEN = sa.text("tries > answered AND status <> 'paid'")


def upgrade() -> None:
    # The version before this one writes no `answered`: what it leaves behind counts as not answered, and is asked for.
    op.add_column('stall_payment', sa.Column('answered', sa.Integer(), server_default='0', nullable=False))
    op.add_column('stall_payment', sa.Column('captured_at', sa.DateTime(timezone=True), nullable=True))
    op.add_column('stall_payment', sa.Column('refunded_at', sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE stall_payment SET answered = tries WHERE status IN ('paid', 'declined')")
    op.create_index('ix_stall_payment_open', 'stall_payment', ['application_id'], postgresql_where=OPEN)
    op.create_table('stall_payment_review',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=False), nullable=False),
    sa.Column('reference', sa.String(length=80, collation='C'), nullable=False),
    sa.Column('kind', sa.String(length=20), nullable=False),
    sa.Column('detail', postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.Column('resolved_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('note', sa.String(length=500), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_stall_payment_review'))
    )
    op.create_index('ix_stall_payment_review_reference', 'stall_payment_review', ['reference', 'id'])
    op.create_index('uq_stall_payment_review_open', 'stall_payment_review', ['reference', 'kind'], unique=True, postgresql_where=sa.text('resolved_at IS NULL'))
    op.drop_constraint(op.f('ck_payrail_mock_charge_state'), 'payrail_mock_charge')
    op.create_check_constraint(op.f('ck_payrail_mock_charge_state'), 'payrail_mock_charge', "state IN ('open', 'paid', 'declined', 'refunded')")


def downgrade() -> None:
    op.execute("UPDATE payrail_mock_charge SET state = 'paid' WHERE state = 'refunded'")
    op.drop_constraint(op.f('ck_payrail_mock_charge_state'), 'payrail_mock_charge')
    op.create_check_constraint(op.f('ck_payrail_mock_charge_state'), 'payrail_mock_charge', "state IN ('open', 'paid', 'declined')")
    op.drop_table('stall_payment_review')
    op.drop_index('ix_stall_payment_open', table_name='stall_payment')
    op.drop_column('stall_payment', 'refunded_at')
    op.drop_column('stall_payment', 'captured_at')
    op.drop_column('stall_payment', 'answered')
