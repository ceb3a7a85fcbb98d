"""The gate: log and counts of admissions, secrets and validity of tickets, re-entry

Revision ID: 0041
Revises: 0040
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, build_unique_index, execute_with_short_lock

revision = '0041'
down_revision = '0040'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
COLUMNS = {
    'event': {'reentry': "varchar(10) NOT NULL DEFAULT 'none'"},
    'ticket_type': {'valid_from': 'timestamptz', 'valid_until': 'timestamptz'},
    'ticket': {
        'secret': 'varchar(200) COLLATE "C"',
        'valid_from': 'timestamptz',
        'valid_until': 'timestamptz',
        'admitted_at': 'timestamptz',
        'left_at': 'timestamptz',
        'transaction_id': 'xid8',
    },
    'allocation_slot': {'left_at': 'timestamptz'},
    'allocation_slot_event': {'transaction_id': 'xid8'},
}
CHANGE_INDEXES = {
    'ix_ticket_change': 'ticket (event_id, transaction_id) WHERE transaction_id IS NOT NULL',
    'ix_allocation_slot_event_change': (
        "allocation_slot_event (event_id, transaction_id) WHERE transaction_id IS NOT NULL AND verb <> 'admit'"
    ),
}
TRIGGER = """
CREATE OR REPLACE TRIGGER {name} AFTER {act} ON {table}
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION notify_gate()
"""
NOTIFY = (
    """
CREATE OR REPLACE FUNCTION notify_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('gate', event_id) FROM (SELECT DISTINCT event_id FROM changed) events;
    RETURN NULL;
END $$
""",
    TRIGGER.format(name='notify_gate', act='INSERT', table='allocation_slot_event'),
    TRIGGER.format(name='notify_gate_of_entry', act='INSERT', table='admission'),
    TRIGGER.format(name='notify_gate_of_undo', act='UPDATE', table='admission'),
)


class Xid8(sa.types.UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return 'xid8'


def upgrade() -> None:
    with beside_traffic():
        for table, columns in COLUMNS.items():
            for name, definition in columns.items():
                execute_with_short_lock(f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {name} {definition}')
        # A default in ADD COLUMN would write the table anew; this one is for new rows.
        execute_with_short_lock(
            'ALTER TABLE allocation_slot_event ALTER COLUMN transaction_id SET DEFAULT pg_current_xact_id()'
        )
        execute_with_short_lock(
            'ALTER TABLE event DROP CONSTRAINT IF EXISTS ck_event_reentry,'
            " ADD CONSTRAINT ck_event_reentry CHECK (reentry IN ('none', 'counted', 'free')) NOT VALID"
        )
        op.execute('ALTER TABLE event VALIDATE CONSTRAINT ck_event_reentry')
        build_unique_index('uq_ticket_secret', 'ticket', 'event_id, secret', 'secret IS NOT NULL')
        for name, definition in CHANGE_INDEXES.items():
            op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {name}')
            op.execute(f'CREATE INDEX CONCURRENTLY {name} ON {definition}')
    op.create_table(
        'admission',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('place_kind', sa.String(10), nullable=False),
        sa.Column('place_id', OBJECT_ID, nullable=True),
        sa.Column('ticket_type_id', OBJECT_ID, nullable=True),
        sa.Column('scan_id', OBJECT_ID, nullable=False),
        sa.Column('position', sa.SmallInteger, server_default=sa.text('0'), nullable=False),
        sa.Column('nonce', sa.String(80), nullable=True),
        sa.Column('direction', sa.String(3), server_default=sa.text("'in'"), nullable=False),
        sa.Column('is_reentry', sa.Boolean, server_default=sa.text('false'), nullable=False),
        sa.Column('remaining', sa.SmallInteger, server_default=sa.text('0'), nullable=False),
        sa.Column('gate', sa.String(80), nullable=True),
        sa.Column('actor_kind', sa.String(10), nullable=False),
        sa.Column('actor_id', OBJECT_ID, nullable=False),
        sa.Column('actor_name', sa.String(200), nullable=False),
        sa.Column('occurred_at', MOMENT, nullable=False),
        sa.Column('recorded_at', MOMENT, server_default=sa.text('now()'), nullable=False),
        sa.Column('conflict', sa.String(40), nullable=True),
        sa.Column('code', sa.String(200), nullable=True),
        sa.Column('undone_at', MOMENT, nullable=True),
        sa.Column('undone_by', sa.String(200), nullable=True),
        sa.Column('undo_reason', sa.String(200), nullable=True),
        sa.Column('transaction_id', Xid8(), server_default=sa.text('pg_current_xact_id()'), nullable=False),
        sa.CheckConstraint(
            "place_kind IN ('allocation', 'ticket', 'unknown')", name=op.f('ck_admission_place_kind')
        ),
        sa.CheckConstraint("direction IN ('in', 'out')", name=op.f('ck_admission_direction')),
        sa.CheckConstraint("(place_id IS NULL) = (place_kind = 'unknown')", name=op.f('ck_admission_place')),
        sa.CheckConstraint(
            "place_kind <> 'unknown' OR conflict IS NOT NULL", name=op.f('ck_admission_unknown_is_a_conflict')
        ),
        sa.CheckConstraint('(undone_at IS NULL) = (undo_reason IS NULL)', name=op.f('ck_admission_undone')),
        sa.PrimaryKeyConstraint('id', 'event_id', name=op.f('pk_admission')),
    )
    op.create_index(
        'uq_admission_nonce',
        'admission',
        ['event_id', 'nonce', 'position'],
        unique=True,
        postgresql_where=sa.text('nonce IS NOT NULL'),
    )
    op.create_index('ix_admission_event', 'admission', ['event_id', 'id'])
    op.create_index('ix_admission_place', 'admission', ['event_id', 'place_id'])
    op.create_index('ix_admission_change', 'admission', ['event_id', 'transaction_id'])
    op.create_index(
        'ix_admission_conflict',
        'admission',
        ['event_id', 'id'],
        postgresql_where=sa.text('conflict IS NOT NULL AND undone_at IS NULL'),
    )
    op.create_table(
        'admission_tally',
        sa.Column('ticket_type_id', OBJECT_ID, nullable=False),
        sa.Column('event_id', OBJECT_ID, nullable=False),
        sa.Column('gate', sa.String(80), nullable=False),
        sa.Column('quarter', MOMENT, nullable=False),
        sa.Column('stripe', sa.SmallInteger, autoincrement=False, nullable=False),
        sa.Column('first_entries', sa.Integer, nullable=False),
        sa.Column('entries', sa.Integer, nullable=False),
        sa.Column('exits', sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint(
            'ticket_type_id', 'gate', 'quarter', 'stripe', 'event_id', name=op.f('pk_admission_tally')
        ),
        postgresql_with={'fillfactor': '50'},
    )
    with beside_traffic():
        for statement in NOTIFY:
            execute_with_short_lock(statement)


def downgrade() -> None:
    op.execute('DROP FUNCTION IF EXISTS notify_gate() CASCADE')
    op.execute('DROP TABLE IF EXISTS admission_tally')
    op.execute('DROP TABLE IF EXISTS admission')
    with beside_traffic():
        for name in CHANGE_INDEXES:
            op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {name}')
        for table, columns in COLUMNS.items():
            for name in columns:
                execute_with_short_lock(f'ALTER TABLE {table} DROP COLUMN IF EXISTS {name}')
