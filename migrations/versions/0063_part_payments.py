"""Allocations: several payments of an invoice

Revision ID: 0063
Revises: 0062
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, build_unique_index, execute_with_short_lock, is_in_primary_key

revision = '0063'
down_revision = '0062'
branch_labels = None
depends_on = None


PARTS, WHOLE = 'uq_invoice_payment_parts', 'uq_invoice_payment_whole'
"""The indexes that become the primary key; an interrupted run leaves one."""


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            'ALTER TABLE invoice_payment ADD COLUMN IF NOT EXISTS number smallint NOT NULL DEFAULT 1'
            ' CONSTRAINT ck_invoice_payment_number CHECK (number > 0)'
        )
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {WHOLE}')
        if not is_in_primary_key('invoice_payment', 'number'):
            _replace_key(PARTS, 'invoice_id, number, event_id')


def downgrade() -> None:
    with beside_traffic():
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {PARTS}')
        if is_in_primary_key('invoice_payment', 'number'):
            if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM invoice_payment WHERE number > 1)')):
                raise RuntimeError('Parts of invoices are recorded. A downgrade would forget them.')
            _replace_key(WHOLE, 'invoice_id, event_id')
        execute_with_short_lock('ALTER TABLE invoice_payment DROP COLUMN IF EXISTS number')


def _replace_key(index: str, columns: str) -> None:
    build_unique_index(index, 'invoice_payment', columns)
    execute_with_short_lock(
        'ALTER TABLE invoice_payment DROP CONSTRAINT pk_invoice_payment,'
        f' ADD CONSTRAINT pk_invoice_payment PRIMARY KEY USING INDEX {index}'
    )
