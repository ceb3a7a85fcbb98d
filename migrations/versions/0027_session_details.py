"""Sessions: kind, device, network and time of last use.

The version that is running writes none of the columns: its sessions are of the API, and their last use is the time of
their last refresh until they are refreshed again.

Revision ID: 0027
Revises: 0026
"""

from app.core.schema_changes import execute_with_short_lock

revision = '0027'
down_revision = '0026'
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_with_short_lock("""
        ALTER TABLE account_session
            ADD COLUMN kind varchar(10) NOT NULL DEFAULT 'api',
            ADD COLUMN device varchar(80),
            ADD COLUMN network varchar(50),
            ADD COLUMN last_seen_at timestamptz
    """)


def downgrade() -> None:
    """Sessions of pages must not become sessions of the API."""
    execute_with_short_lock("DELETE FROM account_session WHERE kind <> 'api'")
    execute_with_short_lock("""
        ALTER TABLE account_session
            DROP COLUMN last_seen_at, DROP COLUMN network, DROP COLUMN device, DROP COLUMN kind
    """)
