"""Tickets with a code of their own: the claim code that was used stands beside it.

A place that was claimed before keeps its code as its ticket's, so that what is printed still admits. Places that were
renamed before leave the party they were handed out with.

Revision ID: 0015
Revises: 0014
Create Date: 2026-11-22 10:45:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0015'
down_revision = '0014'
branch_labels = None
depends_on = None

INDEX = 'uq_allocation_slot_claim_code'
WHERE = sa.text('claim_code IS NOT NULL')
# Only a rename raises the generation of a place that has not ended.
RENAMED = """
    UPDATE allocation_slot SET party_id = left(md5(id || random()::text), 24), party_size = 1
     WHERE status = 'claimed' AND via = 'allocator' AND generation > 1 AND party_size > 1
"""


def upgrade() -> None:
    op.add_column('allocation_slot', sa.Column('claim_code', sa.String(10, collation='C'), nullable=True))
    op.create_index(INDEX, 'allocation_slot', ['claim_code'], unique=True, postgresql_where=WHERE)
    op.execute(RENAMED)


def downgrade() -> None:
    op.drop_index(INDEX, table_name='allocation_slot', postgresql_where=WHERE)
    op.drop_column('allocation_slot', 'claim_code')
