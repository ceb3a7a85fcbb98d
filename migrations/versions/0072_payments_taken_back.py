"""Payments of invoices: a row that takes back a payment that was recorded wrongly, and why

Revision ID: 0072
Revises: 0071
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, build_unique_index, execute_with_short_lock

revision = '0072'
down_revision = '0071'
branch_labels = None
depends_on = None

CHECK, ONCE = 'ck_invoice_payment_takes_back', 'uq_invoice_payment_takes_back'


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            'ALTER TABLE invoice_payment ADD COLUMN IF NOT EXISTS takes_back smallint,'
            ' ADD COLUMN IF NOT EXISTS reason varchar(200)'
        )
        execute_with_short_lock(
            f'ALTER TABLE invoice_payment DROP CONSTRAINT IF EXISTS {CHECK}, ADD CONSTRAINT {CHECK}'
            ' CHECK (takes_back < number AND (takes_back IS NULL) = (reason IS NULL)) NOT VALID'
        )
        op.execute(f'ALTER TABLE invoice_payment VALIDATE CONSTRAINT {CHECK}')
        columns = 'invoice_id, takes_back, event_id'
        build_unique_index(ONCE, 'invoice_payment', columns, where='takes_back IS NOT NULL')


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM invoice_payment WHERE takes_back IS NOT NULL)')):
        raise RuntimeError('Payments were taken back. A downgrade would forget which ones, and why.')
    op.drop_index(ONCE, 'invoice_payment')
    op.drop_constraint(CHECK, 'invoice_payment')
    op.drop_column('invoice_payment', 'reason')
    op.drop_column('invoice_payment', 'takes_back')
