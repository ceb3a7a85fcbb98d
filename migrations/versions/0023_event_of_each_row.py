"""The event of each row that reaches it through a parent: a column that the previous version leaves to a trigger.

The fill goes in pages and takes no lock that others wait for. Every step can be repeated, so a run that was ended
half-way is run again. Migration 0024 puts the column into the keys and drops the triggers.

Revision ID: 0023
Revises: 0022
Create Date: 2026-11-23 17:30:00.000000
"""

import click
import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import (
    beside_traffic,
    build_unique_index,
    execute_with_short_lock,
    fill_column,
    require_column,
)

revision = '0023'
down_revision = '0022'
branch_labels = None
depends_on = None

BLOCK = 'SELECT event_id FROM allocation_block WHERE id = {row}.block_id'
TICKET_TYPE = 'SELECT event_id FROM ticket_type WHERE id = {row}.ticket_type_id'
CAMPAIGN = 'SELECT event_id FROM campaign WHERE id = {row}.campaign_id'
EVENTS = {
    'allocation_slot_event': BLOCK,
    'invoice': BLOCK,
    'ticket_pack': BLOCK,
    'ticket_pack_slot': 'SELECT event_id FROM allocation_slot WHERE id = {row}.slot_id',
    'price_phase': TICKET_TYPE,
    'ticket_admission': TICKET_TYPE,
    'ticket_tally': TICKET_TYPE,
    'campaign_act': CAMPAIGN,
    'campaign_recipient': CAMPAIGN,
    'campaign_tally': CAMPAIGN,
    'inventory_order_line': 'SELECT event_id FROM inventory_order WHERE id = {row}.order_id',
    'shift': 'SELECT event_id FROM crew_member WHERE id = {row}.crew_member_id',
    'shift_break': 'SELECT m.event_id FROM shift s JOIN crew_member m ON m.id = s.crew_member_id'
                   ' WHERE s.id = {row}.shift_id',
}
"""Tables, and how to find the event of a row."""

TRIGGER_FUNCTION = """
CREATE OR REPLACE FUNCTION {table}_sets_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.event_id := ({event});
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE OR REPLACE TRIGGER {table}_sets_event BEFORE INSERT OR UPDATE ON {table}
    FOR EACH ROW WHEN (NEW.event_id IS NULL) EXECUTE FUNCTION {table}_sets_event()
"""
KEEP_INVOICE = """
CREATE OR REPLACE FUNCTION invoice_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
{exception}    RAISE EXCEPTION 'an invoice is never changed or removed' USING ERRCODE = 'restrict_violation';
END $$
"""
LET_EVENT_BE_SET = """
    IF TG_OP = 'UPDATE' THEN
        IF OLD.event_id IS NULL AND to_jsonb(NEW) - 'event_id' = to_jsonb(OLD) - 'event_id' THEN
            RETURN NEW;
        END IF;
    END IF;
"""


def upgrade() -> None:
    with beside_traffic():
        for table in EVENTS:
            execute_with_short_lock(
                f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS event_id varchar(24) COLLATE "C"'
            )
        create_triggers()
        op.execute(KEEP_INVOICE.format(exception=LET_EVENT_BE_SET))
        for table, event in EVENTS.items():
            fill_column(table, 'event_id', event.format(row='t'))
            require_column(table, 'event_id')
        op.execute(KEEP_INVOICE.format(exception=''))
        # This version's inserts name this index in ON CONFLICT, those of the previous version name the one without
        # the event.
        build_unique_index('uq_shift_open_event', 'shift', 'crew_member_id, event_id', 'ended_at IS NULL')


def create_triggers() -> None:
    for table, event in EVENTS.items():
        op.execute(TRIGGER_FUNCTION.format(table=table, event=event.format(row='NEW')))
        execute_with_short_lock(TRIGGER.format(table=table))


KEYS_WITH_EVENT = """
    SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indisprimary AND a.attname = 'event_id' AND i.indrelid::regclass::text = ANY (:tables)
"""


def downgrade() -> None:
    if op.get_bind().execute(sa.text(KEYS_WITH_EVENT), {'tables': list(EVENTS)}).first():
        raise click.ClickException('Migration 0024 was ended half-way. Run `db upgrade` first, then `db downgrade`.')
    op.execute('DROP INDEX uq_shift_open_event')
    for table in EVENTS:
        op.execute(f'DROP TRIGGER {table}_sets_event ON {table}')
        op.execute(f'DROP FUNCTION {table}_sets_event()')
        op.drop_column(table, 'event_id')
