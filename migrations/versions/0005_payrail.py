"""payrail: transfers at the mock rail

Revision ID: 0005
Revises: 0004
Create Date: 2026-11-21 03:00:00.000000
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "payrail_mock_transfer",
        sa.Column("reference", sa.String(length=80, collation="C"), nullable=False),
        sa.Column("ending", sa.String(length=4), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("known_after", sa.Interval(), nullable=False),
        sa.Column("returned_after", sa.Interval(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('paid', 'failed')", name=op.f("ck_payrail_mock_transfer_state")),
        sa.PrimaryKeyConstraint("reference", name=op.f("pk_payrail_mock_transfer")),
    )


def downgrade() -> None:
    op.drop_table("payrail_mock_transfer")
