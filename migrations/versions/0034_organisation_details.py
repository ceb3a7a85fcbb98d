"""Accounts: address, VAT number, bank details and logo of an organisation

Revision ID: 0034
Revises: 0033
"""

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0034'
down_revision = '0033'
branch_labels = None
depends_on = None

COLUMNS = {
    'address': 'varchar(500)',
    'vat_number': 'varchar(20)',
    'bank_name': 'varchar(120)',
    'bank_account_name': 'varchar(120)',
    'bank_account_number': 'varchar(34)',
    'bank_branch_code': 'varchar(20)',
    'logo': 'varchar(40)',
}


def upgrade() -> None:
    with beside_traffic():
        for name, type_ in COLUMNS.items():
            execute_with_short_lock(f'ALTER TABLE organiser_profile ADD COLUMN IF NOT EXISTS {name} {type_}')


def downgrade() -> None:
    with beside_traffic():
        for name in COLUMNS:
            execute_with_short_lock(f'ALTER TABLE organiser_profile DROP COLUMN IF EXISTS {name}')
