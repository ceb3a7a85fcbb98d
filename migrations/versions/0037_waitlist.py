"""Applications: waitlist of stall types, offers of places, days on which documents expire

Revision ID: 0037
Revises: 0036
"""

from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = '0037'
down_revision = '0036'
branch_labels = None
depends_on = None

STATES = "'approved', 'declined', 'awaiting_documents', 'awaiting_payment', 'ready', 'activated', 'withdrawn', 'expired'"
PURPOSES = "'documents', 'payment', 'activation'"


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock('ALTER TABLE merchant_application ADD COLUMN IF NOT EXISTS waitlist_rank integer')
        execute_with_short_lock('ALTER TABLE application_link ADD COLUMN IF NOT EXISTS answer varchar(10)')
        execute_with_short_lock('ALTER TABLE application_document ADD COLUMN IF NOT EXISTS expires_on date')
        _replace_check('merchant_application', 'status', f"'submitted', 'waitlisted', {STATES}")
        _replace_check('application_link', 'purpose', f"{PURPOSES}, 'offer'")


def downgrade() -> None:
    op.execute("UPDATE merchant_application SET status = 'submitted' WHERE status = 'waitlisted'")
    op.execute("DELETE FROM application_link WHERE purpose = 'offer'")
    with beside_traffic():
        _replace_check('application_link', 'purpose', PURPOSES)
        _replace_check('merchant_application', 'status', f"'submitted', {STATES}")
        execute_with_short_lock('ALTER TABLE application_document DROP COLUMN IF EXISTS expires_on')
        execute_with_short_lock('ALTER TABLE application_link DROP COLUMN IF EXISTS answer')
        execute_with_short_lock('ALTER TABLE merchant_application DROP COLUMN IF EXISTS waitlist_rank')


def _replace_check(table: str, column: str, values: str) -> None:
    name = f'ck_{table}_{column}'
    execute_with_short_lock(
        f'ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name},'
        f' ADD CONSTRAINT {name} CHECK ({column} IN ({values})) NOT VALID'
    )
    op.execute(f'ALTER TABLE {table} VALIDATE CONSTRAINT {name}')
