"""The gate: scans and claims notify nobody, because NOTIFY makes commits wait for each other

Revision ID: 0049
Revises: 0048
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0049'
down_revision = '0048'
branch_labels = None
depends_on = None

# A place that is taken back, changes hands or is claimed again. Admissions and new claims are found by the readers.
TAKEN_BACK = """
CREATE OR REPLACE FUNCTION notify_gate_of_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('gate', NEW.event_id);
    RETURN NULL;
END $$
""", """
CREATE OR REPLACE TRIGGER notify_gate_of_place AFTER INSERT ON allocation_slot_event
    FOR EACH ROW WHEN (NEW.verb <> 'admit' AND NEW.from_status IN ('claimed', 'admitted'))
    EXECUTE FUNCTION notify_gate_of_place()
"""
BEFORE = """
CREATE OR REPLACE TRIGGER {name} AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION notify_gate()
"""
OF_EVERY_INSERT = {'notify_gate': 'allocation_slot_event', 'notify_gate_of_entry': 'admission'}


def upgrade() -> None:
    with beside_traffic():
        for statement in TAKEN_BACK:
            execute_with_short_lock(statement)
        for name, table in OF_EVERY_INSERT.items():
            execute_with_short_lock(f'DROP TRIGGER IF EXISTS {name} ON {table}')
        # A scan makes each row of a ticket a little longer; with room in its page it changes no index.
        execute_with_short_lock('ALTER TABLE ticket SET (fillfactor = 85)')


def downgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE ticket RESET (fillfactor)')
        for name, table in OF_EVERY_INSERT.items():
            execute_with_short_lock(BEFORE.format(name=name, table=table))
        execute_with_short_lock('DROP TRIGGER IF EXISTS notify_gate_of_place ON allocation_slot_event')
        op.execute('DROP FUNCTION IF EXISTS notify_gate_of_place()')
