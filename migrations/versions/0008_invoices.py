"""invoices

Revision ID: 0008
Revises: 0007
Create Date: 2026-11-21 03:15:00.000000
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0008'
down_revision = '0007'
branch_labels = None
depends_on = None

ID = sa.String(length=24, collation='C')
KEEP = """
CREATE FUNCTION invoice_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an invoice is never changed or removed' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER invoice_is_kept BEFORE UPDATE OR DELETE ON invoice FOR EACH ROW EXECUTE FUNCTION invoice_is_kept();
CREATE TRIGGER invoices_are_kept BEFORE TRUNCATE ON invoice FOR EACH STATEMENT EXECUTE FUNCTION invoice_is_kept();
"""
WAYS, MORE_WAYS = "'code', 'invite', 'allocator', 'open'", "'code', 'invite', 'allocator', 'open', 'pack'"


def upgrade() -> None:
    op.create_table('invoice_counter',
    sa.Column('organiser_id', ID, nullable=False),
    sa.Column('series', sa.String(length=20), nullable=False),
    sa.Column('year', sa.SmallInteger(), autoincrement=False, nullable=False),
    sa.Column('last', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['organiser_id'], ['account.id'], name=op.f('fk_invoice_counter_organiser_id_account')),
    sa.PrimaryKeyConstraint('organiser_id', 'series', 'year', name=op.f('pk_invoice_counter'))
    )
    op.create_table('invoice',
    sa.Column('id', ID, nullable=False),
    sa.Column('block_id', ID, nullable=False),
    sa.Column('organiser_id', ID, nullable=False),
    sa.Column('kind', sa.String(length=20), nullable=False),
    sa.Column('year', sa.SmallInteger(), nullable=False),
    sa.Column('sequence', sa.Integer(), nullable=False),
    sa.Column('number', sa.String(length=20, collation='C'), nullable=False),
    sa.Column('quantity', sa.Integer(), nullable=False),
    sa.Column('total_minor', sa.BigInteger(), nullable=False),
    sa.Column('paper', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('issued_at', sa.DateTime(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.CheckConstraint("kind IN ('invoice', 'credit_note')", name=op.f('ck_invoice_kind')),
    sa.CheckConstraint("quantity > 0 AND (total_minor > 0) = (kind = 'invoice')", name=op.f('ck_invoice_amounts')),
    sa.ForeignKeyConstraint(['block_id'], ['allocation_block.id'], name=op.f('fk_invoice_block_id_allocation_block')),
    sa.ForeignKeyConstraint(['organiser_id'], ['account.id'], name=op.f('fk_invoice_organiser_id_account')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_invoice')),
    sa.UniqueConstraint('organiser_id', 'kind', 'year', 'sequence', name=op.f('uq_invoice_organiser_id_kind_year_sequence'))
    )
    op.create_index('ix_invoice_block', 'invoice', ['block_id', 'id'], unique=False)
    op.create_index('uq_invoice_block', 'invoice', ['block_id'], unique=True, postgresql_where=sa.text("kind = 'invoice'"))
    op.execute(KEEP)
    op.create_table('ticket_pack',
    sa.Column('id', ID, nullable=False),
    sa.Column('block_id', ID, nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.Column('status', sa.String(length=20), nullable=False),
    sa.Column('drawn', sa.Integer(), server_default=sa.text('0'), nullable=False),
    sa.Column('created_by', ID, nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), server_default=sa.text('now()'), nullable=False),
    sa.CheckConstraint("status IN ('queued', 'running', 'done')", name=op.f('ck_ticket_pack_status')),
    sa.CheckConstraint('count > 0 AND drawn BETWEEN 0 AND count', name=op.f('ck_ticket_pack_count')),
    sa.ForeignKeyConstraint(['block_id'], ['allocation_block.id'], name=op.f('fk_ticket_pack_block_id_allocation_block')),
    sa.ForeignKeyConstraint(['created_by'], ['account.id'], name=op.f('fk_ticket_pack_created_by_account'), ondelete='SET NULL'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_ticket_pack'))
    )
    op.create_index('ix_ticket_pack_block', 'ticket_pack', ['block_id', 'created_at', 'id'], unique=False)
    op.create_table('ticket_pack_slot',
    sa.Column('slot_id', ID, nullable=False),
    sa.Column('pack_id', ID, nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['pack_id'], ['ticket_pack.id'], name=op.f('fk_ticket_pack_slot_pack_id_ticket_pack')),
    sa.ForeignKeyConstraint(['slot_id'], ['allocation_slot.id'], name=op.f('fk_ticket_pack_slot_slot_id_allocation_slot')),
    sa.PrimaryKeyConstraint('slot_id', name=op.f('pk_ticket_pack_slot')),
    sa.UniqueConstraint('pack_id', 'number', name=op.f('uq_ticket_pack_slot_pack_id_number'))
    )
    _ways(MORE_WAYS)


def downgrade() -> None:
    _ways(WAYS)
    op.drop_table('ticket_pack_slot')
    op.drop_table('ticket_pack')
    op.drop_table('invoice')
    op.drop_table('invoice_counter')
    op.execute("DROP FUNCTION invoice_is_kept()")


def _ways(ways: str) -> None:
    op.drop_constraint(op.f('ck_allocation_slot_via'), 'allocation_slot', type_='check')
    op.create_check_constraint(op.f('ck_allocation_slot_via'), 'allocation_slot', f"via IN ({ways})")
