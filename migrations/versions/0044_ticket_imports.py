"""Imports of tickets with what they changed; the log of admissions can lose its names

Revision ID: 0044
Revises: 0043
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0044'
down_revision = '0043'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)


class Xid8(sa.types.UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return 'xid8'


def upgrade() -> None:
    op.create_table(
        'ticket_import',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('number', sa.Integer, nullable=False),
        sa.Column('file_name', sa.String(200), nullable=True),
        sa.Column('format', sa.String(20), nullable=False),
        sa.Column('digest', sa.CHAR(64), nullable=False),
        sa.Column('imported_at', MOMENT, server_default=sa.text('now()'), nullable=False),
        sa.Column('imported_by', sa.String(200), nullable=True),
        sa.Column('created', sa.Integer, nullable=False),
        sa.Column('updated', sa.Integer, nullable=False),
        sa.Column('unchanged', sa.Integer, nullable=False),
        sa.Column('skipped', sa.Integer, nullable=False),
        sa.Column('cancelled', sa.Integer, nullable=False),
        sa.Column('new_type_ids', sa.ARRAY(OBJECT_ID), server_default=sa.text("'{}'"), nullable=False),
        sa.Column('undone_at', MOMENT, nullable=True),
        sa.Column('undone_by', sa.String(200), nullable=True),
        sa.Column('undo_transaction_id', Xid8(), nullable=True),
        sa.CheckConstraint(
            '(undone_at IS NULL) = (undo_transaction_id IS NULL)', name=op.f('ck_ticket_import_undone')
        ),
        sa.ForeignKeyConstraint(
            ['event_id'], ['event.id'], name=op.f('fk_ticket_import_event_id_event'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_ticket_import')),
        sa.UniqueConstraint('event_id', 'number', name=op.f('uq_ticket_import_event_id_number')),
    )
    op.create_table(
        'ticket_import_change',
        sa.Column('import_id', OBJECT_ID, nullable=False),
        sa.Column('ticket_id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('ticket_type_id', OBJECT_ID, nullable=True),
        sa.Column('name', sa.String(200), nullable=True),
        sa.Column('email', sa.String(254), nullable=True),
        sa.Column('price_minor', sa.BigInteger, nullable=True),
        sa.Column('sold_at', MOMENT, nullable=True),
        sa.Column('status', sa.String(20), nullable=True),
        sa.Column('secret', sa.String(200, collation='C'), nullable=True),
        sa.Column('valid_from', MOMENT, nullable=True),
        sa.Column('valid_until', MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ['import_id', 'event_id'],
            ['ticket_import.id', 'ticket_import.event_id'],
            name=op.f('fk_ticket_import_change_import_id_ticket_import'),
            ondelete='CASCADE',
        ),
        sa.PrimaryKeyConstraint('import_id', 'ticket_id', 'event_id', name=op.f('pk_ticket_import_change')),
    )
    op.create_index('ix_ticket_import_change_ticket', 'ticket_import_change', ['event_id', 'ticket_id'])
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE admission ALTER COLUMN actor_name DROP NOT NULL')


def downgrade() -> None:
    with beside_traffic():
        op.execute("UPDATE admission SET actor_name = '' WHERE actor_name IS NULL")
        execute_with_short_lock('ALTER TABLE admission ALTER COLUMN actor_name SET NOT NULL')
    op.drop_table('ticket_import_change')
    op.drop_table('ticket_import')
