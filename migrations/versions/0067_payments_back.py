"""Payments of invoices: what an organiser has paid back is below zero

Revision ID: 0067
Revises: 0066
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0067'
down_revision = '0066'
branch_labels = None
depends_on = None

NAME = 'ck_invoice_payment_amount'


def upgrade() -> None:
    _replace('<>')


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM invoice_payment WHERE amount_minor < 0)')):
        raise RuntimeError('invoice_payment has money that was paid back, which the version before cannot account for')
    _replace('>')


def _replace(operator: str) -> None:
    with beside_traffic():
        execute_with_short_lock(
            f'ALTER TABLE invoice_payment DROP CONSTRAINT IF EXISTS {NAME},'
            f' ADD CONSTRAINT {NAME} CHECK (amount_minor {operator} 0) NOT VALID'
        )
        op.execute(f'ALTER TABLE invoice_payment VALIDATE CONSTRAINT {NAME}')
