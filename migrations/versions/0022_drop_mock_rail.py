"""payrail: the mock rail keeps its charges and transfers itself

Only the mode `mock` of the version before used these tables, which moves no money.

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = '0022'
down_revision = '0021'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table('payrail_mock_transfer')
    op.drop_table('payrail_mock_charge')


def downgrade() -> None:
    """Create the tables again, empty."""
    op.create_table(
        'payrail_mock_charge',
        sa.Column('reference', sa.String(length=80, collation='C'), nullable=False),
        sa.Column('msisdn', sa.String(length=20), nullable=False),
        sa.Column('amount_minor', sa.BigInteger(), nullable=False),
        sa.Column('state', sa.String(length=10), server_default='open', nullable=False),
        sa.Column('known_at', sa.DateTime(timezone=True), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.CheckConstraint(
            "state IN ('open', 'paid', 'declined', 'refunded')", name=op.f('ck_payrail_mock_charge_state')
        ),
        sa.PrimaryKeyConstraint('reference', name=op.f('pk_payrail_mock_charge')),
    )
    op.create_table(
        'payrail_mock_transfer',
        sa.Column('reference', sa.String(length=80, collation='C'), nullable=False),
        sa.Column('ending', sa.String(length=4), nullable=False),
        sa.Column('amount_minor', sa.BigInteger(), nullable=False),
        sa.Column('currency', sa.String(length=3), nullable=False),
        sa.Column('state', sa.String(length=10), nullable=False),
        sa.Column('known_after', sa.Interval(), nullable=False),
        sa.Column('returned_after', sa.Interval(), nullable=True),
        sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
        sa.CheckConstraint("state IN ('paid', 'failed')", name=op.f('ck_payrail_mock_transfer_state')),
        sa.PrimaryKeyConstraint('reference', name=op.f('pk_payrail_mock_transfer')),
    )
