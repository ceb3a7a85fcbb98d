"""Tickets: the number of the order that a ticket was sold in

Revision ID: 0068
Revises: 0067
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0068'
down_revision = '0067'
branch_labels = None
depends_on = None

TABLES = ('ticket', 'ticket_import_change')
INDEX = 'ix_ticket_order_number'


def upgrade() -> None:
    with beside_traffic():
        for table in TABLES:
            execute_with_short_lock(f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS order_number varchar(120)')
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {INDEX}')
        op.execute(
            f'CREATE INDEX CONCURRENTLY {INDEX} ON ticket (event_id, upper(order_number))'
            ' WHERE order_number IS NOT NULL'
        )


def downgrade() -> None:
    for table in TABLES:
        if op.get_bind().scalar(sa.text(f'SELECT EXISTS (SELECT FROM {table} WHERE order_number IS NOT NULL)')):
            raise RuntimeError(f'{table} has numbers of orders, which the version before cannot keep')
    with beside_traffic():
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {INDEX}')
        for table in TABLES:
            execute_with_short_lock(f'ALTER TABLE {table} DROP COLUMN IF EXISTS order_number')
