"""Allocations: payments of invoices, with their bookings in the ledger

Revision ID: 0047
Revises: 0046
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0047'
down_revision = '0046'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
OLD_KINDS = "'settlement', 'hold', 'release', 'payout', 'return', 'stall_fee', 'stall_fee_refund'"


def upgrade() -> None:
    with beside_traffic():
        _replace_kinds(f"{OLD_KINDS}, 'block_invoice'")
    op.create_table(
        'invoice_payment',
        sa.Column('invoice_id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('amount_minor', sa.BigInteger, nullable=False),
        sa.Column('reference', sa.String(80), nullable=False),
        sa.Column('received_on', sa.Date, nullable=False),
        sa.Column('recorded_by', OBJECT_ID, nullable=False),
        sa.Column('recorded_at', sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.CheckConstraint('amount_minor > 0', name=op.f('ck_invoice_payment_amount')),
        sa.ForeignKeyConstraint(
            ['invoice_id', 'event_id'],
            ['invoice.id', 'invoice.event_id'],
            name=op.f('fk_invoice_payment_invoice_id_invoice'),
        ),
        sa.PrimaryKeyConstraint('invoice_id', 'event_id', name=op.f('pk_invoice_payment')),
    )


def _replace_kinds(values: str) -> None:
    """Allow other kinds of transactions; the rows are checked without blocking writes."""
    execute_with_short_lock(
        'ALTER TABLE ledger_transaction DROP CONSTRAINT IF EXISTS ck_ledger_transaction_kind,'
        f' ADD CONSTRAINT ck_ledger_transaction_kind CHECK (kind IN ({values})) NOT VALID'
    )
    op.execute('ALTER TABLE ledger_transaction VALIDATE CONSTRAINT ck_ledger_transaction_kind')


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM invoice_payment)')):
        raise RuntimeError('Payments of invoices are recorded. A downgrade would forget them.')
    op.drop_table('invoice_payment')
    with beside_traffic():
        _replace_kinds(OLD_KINDS)
