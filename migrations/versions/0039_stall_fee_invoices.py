"""Applications: invoices of stall fees, and who they are for

Revision ID: 0039
Revises: 0038
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0039'
down_revision = '0038'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
COLUMNS = {'billing_address': 'varchar(500)', 'billing_vat_number': 'varchar(20)'}
KEEP = """
CREATE TRIGGER fee_invoice_is_kept BEFORE UPDATE OR DELETE ON stall_fee_invoice
    FOR EACH ROW EXECUTE FUNCTION invoice_is_kept();
CREATE TRIGGER fee_invoices_are_kept BEFORE TRUNCATE ON stall_fee_invoice
    FOR EACH STATEMENT EXECUTE FUNCTION invoice_is_kept();
"""


def upgrade() -> None:
    with beside_traffic():
        for name, type_ in COLUMNS.items():
            execute_with_short_lock(f'ALTER TABLE merchant_application ADD COLUMN IF NOT EXISTS {name} {type_}')
    op.create_table(
        'stall_fee_invoice',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('application_id', OBJECT_ID, nullable=False),
        sa.Column('organiser_id', OBJECT_ID, nullable=False),
        sa.Column('year', sa.SmallInteger, nullable=False),
        sa.Column('sequence', sa.Integer, nullable=False),
        sa.Column('number', sa.String(20, collation='C'), nullable=False),
        sa.Column('total_minor', sa.BigInteger, nullable=False),
        sa.Column('paper', postgresql.JSONB, nullable=False),
        sa.Column('issued_at', MOMENT, nullable=False),
        sa.CheckConstraint('total_minor > 0', name=op.f('ck_stall_fee_invoice_amount')),
        sa.ForeignKeyConstraint(
            ['application_id'],
            ['merchant_application.id'],
            name=op.f('fk_stall_fee_invoice_application_id_merchant_application'),
        ),
        sa.ForeignKeyConstraint(
            ['organiser_id'], ['account.id'], name=op.f('fk_stall_fee_invoice_organiser_id_account')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_stall_fee_invoice')),
        sa.UniqueConstraint('application_id', name=op.f('uq_stall_fee_invoice_application_id')),
        sa.UniqueConstraint(
            'organiser_id', 'year', 'sequence', name=op.f('uq_stall_fee_invoice_organiser_id_year_sequence')
        ),
    )
    op.execute(KEEP)


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM stall_fee_invoice)')):
        raise RuntimeError('Stall fee invoices have been issued. A downgrade would destroy them.')
    op.drop_table('stall_fee_invoice')
    with beside_traffic():
        for name in COLUMNS:
            execute_with_short_lock(f'ALTER TABLE merchant_application DROP COLUMN IF EXISTS {name}')
