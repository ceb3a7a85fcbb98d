"""Tickets: an index that has what the money of an event needs

It does not begin with the event: while a table is empty, PostgreSQL would plan to find a ticket by such an index.

Revision ID: 0064
Revises: 0063
"""

from alembic import op

from app.core.schema_changes import beside_traffic

revision = '0064'
down_revision = '0063'
branch_labels = None
depends_on = None


def upgrade() -> None:
    _replace('ix_ticket_type_status', 'ix_ticket_takings', 'ticket_type_id, status, event_id, price_minor')


def downgrade() -> None:
    _replace('ix_ticket_takings', 'ix_ticket_type_status', 'ticket_type_id, status')


def _replace(old: str, new: str, columns: str) -> None:
    with beside_traffic():
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {new}')
        op.execute(f'CREATE INDEX CONCURRENTLY {new} ON ticket ({columns})')
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {old}')
