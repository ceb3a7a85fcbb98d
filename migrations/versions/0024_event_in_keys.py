"""The event in the keys of each table whose rows belong to one: primary keys, foreign keys and unique constraints.

Contracts what 0023 expanded: it drops the triggers, and the previous version cannot insert any longer. An upgrade
leaves this migration to the next one (`flask db expand`). Every step can be repeated.

Revision ID: 0024
Revises: 0023
Create Date: 2026-11-23 17:40:00.000000
"""

from types import ModuleType

from alembic import context, op

from app.core.schema_changes import (
    beside_traffic,
    build_unique_index,
    execute_with_short_lock,
    has_constraint,
    is_in_primary_key,
    replace_foreign_key,
    replace_unique_index,
)

revision = '0024'
down_revision = '0023'
branch_labels = None
depends_on = None
contracts = True

KEYS = {
    'allocation_block': 'id',
    'allocation_slot': 'id',
    'allocation_slot_event': 'id',
    'campaign': 'id',
    'campaign_act': 'id',
    'campaign_recipient': 'id',
    'crew_member': 'id',
    'event_invite': 'id',
    'inventory_alert': 'seq',
    'inventory_change': 'seq',
    'inventory_item': 'id',
    'inventory_job': 'id',
    'inventory_movement': 'seq',
    'inventory_order': 'id',
    'inventory_order_line': 'order_id, item_id',
    'invite_link': 'id',
    'invoice': 'id',
    'price_phase': 'id',
    'shift': 'id',
    'shift_break': 'shift_id, started_at',
    'ticket': 'id',
    'ticket_pack': 'id',
    'ticket_pack_slot': 'slot_id',
    'ticket_type': 'id',
}
"""Tables, and the primary key without the event."""

COUNTERS = {
    'campaign_tally': 'campaign_id, variant, stripe',
    'ticket_admission': 'ticket_type_id, block_id, day, stripe',
    'ticket_tally': 'ticket_type_id, day',
}
"""The same for small tables whose rows are inserted ON CONFLICT of the primary key. With a second unique index beside
it, two inserts of one row at the same time would fail. So one statement replaces the key."""

PARENTS = (
    ('allocation_block', 'ticket_type_id', 'ticket_type', ''),
    ('campaign_act', 'campaign_id', 'campaign', ''),
    ('campaign_tally', 'campaign_id', 'campaign', ''),
    ('inventory_movement', 'item_id', 'inventory_item', ''),
    ('inventory_order_line', 'item_id', 'inventory_item', ''),
    ('inventory_order_line', 'order_id', 'inventory_order', ''),
    ('invoice', 'block_id', 'allocation_block', ''),
    ('price_phase', 'ticket_type_id', 'ticket_type', ' ON DELETE CASCADE'),
    ('shift', 'crew_member_id', 'crew_member', ''),
    ('shift_break', 'shift_id', 'shift', ''),
    ('ticket', 'ticket_type_id', 'ticket_type', ''),
    ('ticket_admission', 'ticket_type_id', 'ticket_type', ' ON DELETE CASCADE'),
    ('ticket_pack', 'block_id', 'allocation_block', ''),
    ('ticket_pack_slot', 'pack_id', 'ticket_pack', ''),
    ('ticket_pack_slot', 'slot_id', 'allocation_slot', ''),
    ('ticket_tally', 'ticket_type_id', 'ticket_type', ' ON DELETE CASCADE'),
)
CONSTRAINTS = (
    ('campaign_recipient', 'uq_campaign_recipient_campaign_id_channel_person', 'campaign_id, channel, person'),
    ('ticket_pack_slot', 'uq_ticket_pack_slot_pack_id_number', 'pack_id, number'),
)
INDEXES = (
    (
        'allocation_slot',
        'uq_allocation_slot_open_link',
        'block_id, email',
        "via = 'open' AND id = party_id AND ended_at IS NULL",
    ),
    ('campaign_recipient', 'uq_campaign_recipient_number', 'campaign_id, address', "channel = 'sms'"),
    ('invoice', 'uq_invoice_block', 'block_id', "kind = 'invoice'"),
    ('shift', 'uq_shift_open', 'crew_member_id', 'ended_at IS NULL'),
)


def upgrade() -> None:
    with beside_traffic():
        for table, key in KEYS.items():
            if not is_in_primary_key(table, 'event_id'):
                build_unique_index(f'{table}_with_event', table, f'{key}, event_id')
        for table, column, parent, ondelete in PARENTS:
            replace_foreign_key(
                table,
                f'fk_{table}_{column}_{parent}',
                f'fk_{table}_{column}_event_id_{parent}',
                f'FOREIGN KEY ({column}, event_id) REFERENCES {parent} (id, event_id){ondelete}',
            )
        for table in KEYS:
            if not is_in_primary_key(table, 'event_id'):
                replace_primary_key(table, f'USING INDEX {table}_with_event')
        for table, key in COUNTERS.items():
            if not is_in_primary_key(table, 'event_id'):
                replace_primary_key(table, f'({key}, event_id)')
        for table, name, columns in CONSTRAINTS:
            if not has_constraint(table, f'{name}_event_id'):
                build_unique_index(f'{table}_unique_with_event', table, f'{columns}, event_id')
                execute_with_short_lock(
                    f'ALTER TABLE {table} DROP CONSTRAINT {name},'
                    f' ADD CONSTRAINT {name}_event_id UNIQUE USING INDEX {table}_unique_with_event'
                )
        for table, name, columns, condition in INDEXES:
            replace_unique_index(name, table, f'{columns}, event_id', condition)
        for table in expansion().EVENTS:
            execute_with_short_lock(f'DROP TRIGGER IF EXISTS {table}_sets_event ON {table}')
            op.execute(f'DROP FUNCTION IF EXISTS {table}_sets_event()')


def replace_primary_key(table: str, definition: str) -> None:
    execute_with_short_lock(
        f'ALTER TABLE {table} DROP CONSTRAINT pk_{table}, ADD CONSTRAINT pk_{table} PRIMARY KEY {definition}'
    )


def downgrade() -> None:
    for table, name, columns, condition in INDEXES:
        op.execute(f'DROP INDEX {name}')
        op.execute(f'CREATE UNIQUE INDEX {name} ON {table} ({columns}) WHERE {condition}')
    op.execute('CREATE UNIQUE INDEX uq_shift_open_event ON shift (crew_member_id, event_id) WHERE ended_at IS NULL')
    for table, name, columns in CONSTRAINTS:
        op.execute(f'ALTER TABLE {table} DROP CONSTRAINT {name}_event_id, ADD CONSTRAINT {name} UNIQUE ({columns})')
    for table, column, parent, _ in PARENTS:
        op.execute(f'ALTER TABLE {table} DROP CONSTRAINT fk_{table}_{column}_event_id_{parent}')
    for table, key in {**KEYS, **COUNTERS}.items():
        op.execute(f'ALTER TABLE {table} DROP CONSTRAINT pk_{table}, ADD CONSTRAINT pk_{table} PRIMARY KEY ({key})')
    for table, column, parent, ondelete in PARENTS:
        op.execute(
            f'ALTER TABLE {table} ADD CONSTRAINT fk_{table}_{column}_{parent}'
            f' FOREIGN KEY ({column}) REFERENCES {parent} (id){ondelete}'
        )
    expansion().create_triggers()


def expansion() -> ModuleType:
    """The migration whose triggers this one drops."""
    return context.script.get_revision(down_revision).module
