"""Keys that follow a deletion: an index for each that had none, so that deleting an event or an account reads no whole table.

Revision ID: 0017
Revises: 0016
Create Date: 2026-12-02 09:00:00.000000
"""

from alembic import op

revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None

INDEXES = (
    ('ix_inventory_job_event', 'inventory_job', 'event_id'),
    ('ix_account_session_account_id', 'account_session', 'account_id'),
    ('ix_application_link_application_id', 'application_link', 'application_id'),
    ('ix_allocation_block_created_by', 'allocation_block', 'created_by'),
    ('ix_ticket_pack_created_by', 'ticket_pack', 'created_by'),
    ('ix_campaign_created_by', 'campaign', 'created_by'),
    ('ix_merchant_application_decided_by', 'merchant_application', 'decided_by'),
)


def upgrade() -> None:
    # Beside the traffic: sessions are many. An index that an interrupted run left behind is made again.
    with op.get_context().autocommit_block():
        op.execute('SET statement_timeout = 0')
        for name, table, column in INDEXES:
            op.drop_index(name, table_name=table, if_exists=True, postgresql_concurrently=True)
            op.create_index(name, table, [column], postgresql_concurrently=True)
        op.execute('RESET statement_timeout')


def downgrade() -> None:
    for name, table, _ in INDEXES:
        op.drop_index(name, table_name=table)
