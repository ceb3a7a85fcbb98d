"""Campaigns: filtered audiences, addresses that an organiser stopped, and an index of failed messages

Revision ID: 0054
Revises: 0053
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0054'
down_revision = '0053'
branch_labels = None
depends_on = None

AUDIENCES = "('event_ticket_holders', 'specific_users', 'filtered_people')"
FAILED = 'ix_campaign_recipient_failed'


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE campaign ADD COLUMN IF NOT EXISTS audience_filter jsonb')
        execute_with_short_lock(
            'ALTER TABLE campaign DROP CONSTRAINT IF EXISTS ck_campaign_audience_type,'
            f' ADD CONSTRAINT ck_campaign_audience_type CHECK (audience_type IN {AUDIENCES}) NOT VALID'
        )
        op.execute('ALTER TABLE campaign VALIDATE CONSTRAINT ck_campaign_audience_type')
        execute_with_short_lock(
            'ALTER TABLE unsubscribe ADD COLUMN IF NOT EXISTS by_organiser boolean NOT NULL DEFAULT false'
        )
        op.execute(f'DROP INDEX CONCURRENTLY IF EXISTS {FAILED}')
        op.execute(f"CREATE INDEX CONCURRENTLY {FAILED} ON campaign_recipient (campaign_id, id) WHERE state = 'failed'")


def downgrade() -> None:
    op.drop_index(FAILED, table_name='campaign_recipient')
    op.drop_column('unsubscribe', 'by_organiser')
    op.drop_constraint('ck_campaign_audience_type', 'campaign')
    op.create_check_constraint(
        'ck_campaign_audience_type', 'campaign', "audience_type IN ('event_ticket_holders', 'specific_users')"
    )
    op.drop_column('campaign', 'audience_filter')
