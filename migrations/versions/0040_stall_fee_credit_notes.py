"""Applications: credit notes of refunded stall fees

Revision ID: 0040
Revises: 0039
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0040'
down_revision = '0039'
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation='C')
MOMENT = sa.DateTime(timezone=True)
KEEP = """
CREATE TRIGGER fee_credit_note_is_kept BEFORE UPDATE OR DELETE ON stall_fee_credit_note
    FOR EACH ROW EXECUTE FUNCTION invoice_is_kept();
CREATE TRIGGER fee_credit_notes_are_kept BEFORE TRUNCATE ON stall_fee_credit_note
    FOR EACH STATEMENT EXECUTE FUNCTION invoice_is_kept();
"""


def upgrade() -> None:
    op.create_table(
        'stall_fee_credit_note',
        sa.Column('id', OBJECT_ID, nullable=False),
        sa.Column('application_id', OBJECT_ID, nullable=False),
        sa.Column('organiser_id', OBJECT_ID, nullable=False),
        sa.Column('year', sa.SmallInteger, nullable=False),
        sa.Column('sequence', sa.Integer, nullable=False),
        sa.Column('number', sa.String(20, collation='C'), nullable=False),
        sa.Column('total_minor', sa.BigInteger, nullable=False),
        sa.Column('paper', postgresql.JSONB, nullable=False),
        sa.Column('issued_at', MOMENT, nullable=False),
        sa.CheckConstraint('total_minor < 0', name=op.f('ck_stall_fee_credit_note_amount')),
        sa.ForeignKeyConstraint(
            ['application_id'],
            ['merchant_application.id'],
            name=op.f('fk_stall_fee_credit_note_application_id_merchant_application'),
        ),
        sa.ForeignKeyConstraint(
            ['organiser_id'], ['account.id'], name=op.f('fk_stall_fee_credit_note_organiser_id_account')
        ),
        sa.PrimaryKeyConstraint('id', name=op.f('pk_stall_fee_credit_note')),
        sa.UniqueConstraint('application_id', name=op.f('uq_stall_fee_credit_note_application_id')),
        sa.UniqueConstraint(
            'organiser_id', 'year', 'sequence', name=op.f('uq_stall_fee_credit_note_organiser_id_year_sequence')
        ),
    )
    op.execute(KEEP)


def downgrade() -> None:
    if op.get_bind().scalar(sa.text('SELECT EXISTS (SELECT FROM stall_fee_credit_note)')):
        raise RuntimeError('Credit notes for stall fees have been issued. A downgrade would destroy them.')
    op.drop_table('stall_fee_credit_note')
