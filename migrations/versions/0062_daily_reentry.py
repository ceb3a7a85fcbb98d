"""Events where a ticket enters once a day

Revision ID: 0062
Revises: 0061
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0062'
down_revision = '0061'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with beside_traffic():
        _change_modes("'none', 'daily', 'counted', 'free'")
        execute_with_short_lock('ALTER TABLE admission ADD COLUMN IF NOT EXISTS entry_day date')
        op.execute('DROP INDEX CONCURRENTLY IF EXISTS uq_admission_entry_day')
        op.execute(
            'CREATE UNIQUE INDEX CONCURRENTLY uq_admission_entry_day ON admission (event_id, place_id, entry_day)'
            ' WHERE entry_day IS NOT NULL AND conflict IS NULL AND undone_at IS NULL'
        )


def downgrade() -> None:
    op.drop_index('uq_admission_entry_day', table_name='admission')
    op.drop_column('admission', 'entry_day')
    op.execute("UPDATE event SET reentry = 'free' WHERE reentry = 'daily'")
    _change_modes("'none', 'counted', 'free'")


def _change_modes(modes: str) -> None:
    execute_with_short_lock(
        'ALTER TABLE event DROP CONSTRAINT IF EXISTS ck_event_reentry,'
        f' ADD CONSTRAINT ck_event_reentry CHECK (reentry IN ({modes})) NOT VALID'
    )
    op.execute('ALTER TABLE event VALIDATE CONSTRAINT ck_event_reentry')
