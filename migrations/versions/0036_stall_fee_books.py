"""Stall fees: applications of accepted invitations, refunds, and bookings in the ledger

Revision ID: 0036
Revises: 0035
"""

import sqlalchemy as sa
from alembic import op

from app.core.schema_changes import beside_traffic, execute_with_short_lock

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

OBJECT_ID = sa.String(24, collation="C")
MOMENT = sa.DateTime(timezone=True)
OLD_KINDS = "'settlement', 'hold', 'release', 'payout', 'return'"
OLD_ACCOUNTS = "'merchant_balance', 'merchant_held', 'rail_clearing', 'platform'"
BOOK_SETTLED_FEES = """
    WITH fee AS (
        SELECT a.id, a.reference, a.organiser_id, a.event_id, a.amount_minor, a.paid_at,
               CASE WHEN r.kind = 'received' THEN 'bank' ELSE 'rail_clearing' END AS account
          FROM merchant_application a LEFT JOIN stall_fee_record r ON r.application_id = a.id
         WHERE a.paid_at IS NOT NULL AND a.organiser_id IS NOT NULL AND a.amount_minor > 0
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, event_id, amount_minor, occurred_at, description)
        SELECT 'stall_fee', id, organiser_id, event_id, amount_minor, paid_at, reference FROM fee ORDER BY paid_at, id
        ON CONFLICT DO NOTHING RETURNING id, reference
    )
    INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor)
    SELECT posted.id, fee.organiser_id, leg.account, leg.sign * fee.amount_minor
      FROM posted JOIN fee ON fee.id = posted.reference
     CROSS JOIN LATERAL (VALUES ('organisation', 1), (fee.account, -1)) AS leg (account, sign)
"""


def upgrade() -> None:
    with beside_traffic():
        execute_with_short_lock(
            'ALTER TABLE merchant_application ADD COLUMN IF NOT EXISTS event_invite_id varchar(24) COLLATE "C",'
            " ADD COLUMN IF NOT EXISTS refunded_at timestamptz"
        )
        execute_with_short_lock(
            'ALTER TABLE ledger_transaction ADD COLUMN IF NOT EXISTS event_id varchar(24) COLLATE "C"'
        )
        _replace_check("ledger_transaction", "kind", f"{OLD_KINDS}, 'stall_fee', 'stall_fee_refund'")
        _replace_check("ledger_entry", "account", f"{OLD_ACCOUNTS}, 'organisation', 'bank'")
        op.execute(
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS uq_merchant_application_event_invite"
            " ON merchant_application (event_invite_id) WHERE event_invite_id IS NOT NULL"
        )
        op.execute(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_ledger_transaction_event"
            " ON ledger_transaction (event_id, id) WHERE event_id IS NOT NULL"
        )
    op.create_table(
        "stall_fee_refund",
        sa.Column("application_id", OBJECT_ID, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("method", sa.String(10), nullable=False),
        sa.Column("amount_minor", sa.BigInteger, nullable=False),
        sa.Column("reference", sa.String(80), nullable=True),
        sa.Column("reason", sa.String(500), nullable=False),
        sa.Column("recorded_by", OBJECT_ID, nullable=False),
        sa.Column("recorded_at", MOMENT, server_default=sa.func.now(), nullable=False),
        sa.Column("refunded_at", MOMENT, nullable=True),
        sa.CheckConstraint("status IN ('requested', 'refunded', 'refused')", name=op.f("ck_stall_fee_refund_status")),
        sa.CheckConstraint("method IN ('rail', 'transfer')", name=op.f("ck_stall_fee_refund_method")),
        sa.CheckConstraint("amount_minor > 0", name=op.f("ck_stall_fee_refund_amount")),
        sa.CheckConstraint(
            "(status = 'refunded') = (refunded_at IS NOT NULL)", name=op.f("ck_stall_fee_refund_refunded_at")
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["merchant_application.id"],
            name=op.f("fk_stall_fee_refund_application_id_merchant_application"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("application_id", name=op.f("pk_stall_fee_refund")),
    )
    op.execute(BOOK_SETTLED_FEES)


def _replace_check(table: str, column: str, values: str) -> None:
    """Allow more values in a column; the rows are checked without blocking writes."""
    name = f"ck_{table}_{column}"
    execute_with_short_lock(
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name},"
        f" ADD CONSTRAINT {name} CHECK ({column} IN ({values})) NOT VALID"
    )
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT EXISTS (SELECT FROM stall_fee_refund)")):
        raise RuntimeError("Stall fees have been refunded. A downgrade would forget it, and they could be refunded again.")
    op.drop_table("stall_fee_refund")
    fees = "SELECT id FROM ledger_transaction WHERE kind IN ('stall_fee', 'stall_fee_refund')"
    for table, column in (("ledger_entry", "transaction_id"), ("ledger_transaction", "id")):
        op.execute(f"ALTER TABLE {table} DISABLE TRIGGER {table}_rows")
        op.execute(f"DELETE FROM {table} WHERE {column} IN ({fees})")
        op.execute(f"ALTER TABLE {table} ENABLE TRIGGER {table}_rows")
    with beside_traffic():
        _replace_check("ledger_transaction", "kind", OLD_KINDS)
        _replace_check("ledger_entry", "account", OLD_ACCOUNTS)
        execute_with_short_lock("ALTER TABLE ledger_transaction DROP COLUMN IF EXISTS event_id")
        execute_with_short_lock(
            "ALTER TABLE merchant_application DROP COLUMN IF EXISTS event_invite_id, DROP COLUMN IF EXISTS refunded_at"
        )
