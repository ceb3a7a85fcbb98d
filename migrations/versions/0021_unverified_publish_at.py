"""Events: no draft of an organiser whose address is not verified is published by its time

Such times were set before publishing needed a verified address, and are not looked at again when they come.

Revision ID: 0021
Revises: 0020
"""

from alembic import op

revision = '0021'
down_revision = '0020'
branch_labels = None
depends_on = None

CLEAR = """
    UPDATE event SET publish_at = NULL, version = event.version + 1
      FROM account
     WHERE account.id = event.organiser_id AND account.email_verified_at IS NULL
       AND event.visibility = 'draft' AND event.publish_at > now()
"""


def upgrade() -> None:
    op.execute(CLEAR)


def downgrade() -> None:
    """The times stay away: the version before did not need them."""
