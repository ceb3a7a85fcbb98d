"""The slug of an event, for the address of its page, and the address at which its tickets are sold.

The previous version inserts events without a slug: a trigger sets it to their id.

Revision ID: 0045
Revises: 0044
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, build_unique_index, execute_with_short_lock, require_column
from app.events.slugs import find_free_slug

revision = '0045'
down_revision = '0044'
branch_labels = None
depends_on = None

COLUMNS = {'slug': 'varchar(80) COLLATE "C"', 'tickets_url': 'varchar(2048)'}
FUNCTION = """
CREATE OR REPLACE FUNCTION event_sets_slug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.slug := NEW.id;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE OR REPLACE TRIGGER event_sets_slug BEFORE INSERT ON event
    FOR EACH ROW WHEN (NEW.slug IS NULL) EXECUTE FUNCTION event_sets_slug()
"""
PAGE = sa.text("SELECT id, name FROM event WHERE id > :last AND slug IS NULL ORDER BY id LIMIT 500")
FILL = sa.text("UPDATE event SET slug = :slug WHERE id = :id AND slug IS NULL")


def upgrade() -> None:
    with beside_traffic():
        for name, definition in COLUMNS.items():
            execute_with_short_lock(f'ALTER TABLE event ADD COLUMN IF NOT EXISTS {name} {definition}')
        op.execute(FUNCTION)
        execute_with_short_lock(TRIGGER)
        build_unique_index('uq_event_slug', 'event', 'slug')
        fill_slugs()
        require_column('event', 'slug')


def fill_slugs() -> None:
    """Set the missing slugs, 500 events at a time; each statement locks one row."""
    connection, last = op.get_bind(), ''
    while rows := connection.execute(PAGE, {'last': last}).all():
        for id, name in rows:
            connection.execute(FILL, {'id': id, 'slug': find_free_slug(connection, name, id)})
        last = rows[-1].id


def downgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('DROP TRIGGER IF EXISTS event_sets_slug ON event')
        op.execute('DROP FUNCTION IF EXISTS event_sets_slug()')
        for name in COLUMNS:
            execute_with_short_lock(f'ALTER TABLE event DROP COLUMN IF EXISTS {name}')
