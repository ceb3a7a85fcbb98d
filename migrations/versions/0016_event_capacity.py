"""Limits on bookings: uses of a promo code are found by an index, and unverified organisers have a quota.

Names that are there already lose characters that nobody sees. Only rows that have some are written; joiners and
variation selectors stay where a letter other than a Latin one, or a symbol, is before them.

Revision ID: 0016
Revises: 0015
Create Date: 2026-11-22 11:00:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = '0016'
down_revision = '0015'
branch_labels = None
depends_on = None


INVISIBLE = (
    r'[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0'
    r'\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]'
    r'|(?<![^\u0001-\u02af])[\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]+'
)
NAMES = {
    'account': ('name',),
    'organiser_profile': ('org_name',),
    'merchant_profile': ('business_name', 'stall_name'),
    'ticket': ('name',),
    'allocation_block': ('name', 'holder_name', 'holder_organisation'),
    'allocation_slot': ('name',),
    'merchant_application': ('business_name', 'contact_name', 'stall_type'),
    'crew_member': ('name',),
    'event_invite': ('stall_type',),
    'invite_link': ('business_name', 'stall_type'),
    'participation': ('stall_type',),
}


def clean_names() -> None:
    for table, columns in NAMES.items():
        for column in columns:
            # A name of nothing else stays, because most of them must not be empty.
            cleaned = f"btrim(regexp_replace({column}, '{INVISIBLE}', '', 'g'))"
            op.execute(
                sa.text(f"UPDATE {table} SET {column} = {cleaned} WHERE {column} ~ '{INVISIBLE}' AND {cleaned} <> ''")
            )


def upgrade() -> None:
    op.execute('SET LOCAL statement_timeout = 0')
    op.create_index(
        'ix_allocation_block_promo_code',
        'allocation_block',
        ['event_id', 'promo_code'],
        postgresql_where=sa.text('promo_code IS NOT NULL'),
    )
    op.create_table(
        'unverified_use',
        sa.Column('account_id', sa.String(length=24, collation='C'), nullable=False),
        sa.Column('quota', sa.String(length=20), nullable=False),
        sa.Column('used', sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ['account_id'], ['account.id'], name=op.f('fk_unverified_use_account_id_account'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('account_id', 'quota', name=op.f('pk_unverified_use')),
    )
    clean_names()


def downgrade() -> None:
    op.drop_table('unverified_use')
    op.drop_index('ix_allocation_block_promo_code', table_name='allocation_block')
