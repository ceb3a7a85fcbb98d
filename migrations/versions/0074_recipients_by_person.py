"""Campaigns: the unique index of recipients begins with the person, so that it also sorts the list of them

Revision ID: 0074
Revises: 0073
"""

from alembic import op

from app.core.schema_changes import beside_traffic, build_unique_index, execute_with_short_lock, has_constraint

revision = '0074'
down_revision = '0073'
branch_labels = None
depends_on = None

TABLE = 'campaign_recipient'
OLD, NEW = (f'uq_{TABLE}_campaign_id_{order}_event_id' for order in ('channel_person', 'person_channel'))


def upgrade() -> None:
    replace(OLD, NEW, 'campaign_id, person, channel, event_id')


def downgrade() -> None:
    replace(NEW, OLD, 'campaign_id, channel, person, event_id')


def replace(old: str, new: str, columns: str) -> None:
    with beside_traffic():
        if has_constraint(TABLE, new):
            return
        build_unique_index(new, TABLE, columns)
        execute_with_short_lock(
            f'ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {old}, ADD CONSTRAINT {new} UNIQUE USING INDEX {new}'
        )
