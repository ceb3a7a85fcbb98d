"""Stock: the jobs of an event are found by an index when the event is deleted.

Revision ID: 0017
Revises: 0012
Create Date: 2026-12-02 09:00:00.000000
"""

from alembic import op

revision = '0017'
down_revision = '0012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A job lives for two days, so the table is small: making the index takes milliseconds.
    op.create_index('ix_inventory_job_event', 'inventory_job', ['event_id'])


def downgrade() -> None:
    op.drop_index('ix_inventory_job_event', table_name='inventory_job')
