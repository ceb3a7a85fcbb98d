"""Tables of the ledger. Entries and transactions are insert-only by trigger; purses follow from them.

merchant_balance   what a merchant may spend          ─┐ both stand in their purse, never below zero
merchant_held      what is on its way to them          ─┘
rail_clearing      what has left by the payment rail  ─┐ the house's: no limit, so no running figure that every
platform           where earnings come from           ─┘ payout of every merchant would have to wait for
"""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Identity, Index, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, one_of

MERCHANT_BALANCE, MERCHANT_HELD, RAIL_CLEARING, PLATFORM = (
    "merchant_balance",
    "merchant_held",
    "rail_clearing",
    "platform",
)
ACCOUNTS = (MERCHANT_BALANCE, MERCHANT_HELD, RAIL_CLEARING, PLATFORM)
MERCHANT_ACCOUNTS = (MERCHANT_BALANCE, MERCHANT_HELD)
KINDS = SETTLEMENT, HOLD, RELEASE, PAYOUT, RETURN = "settlement", "hold", "release", "payout", "return"


class Balance(Base):
    """What a merchant has, as of their last entry: the row that every write of theirs takes first."""

    __tablename__ = "ledger_purse"
    __table_args__ = (
        CheckConstraint("available_minor >= 0", name="available"),
        CheckConstraint("held_minor >= 0", name="held"),
    )

    owner_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    available_minor: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    held_minor: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class LedgerTransaction(Base):
    """One movement of one merchant's money. A reference occurs once in each kind, so nothing is booked twice."""

    __tablename__ = "ledger_transaction"
    __table_args__ = (
        one_of("kind", KINDS),
        CheckConstraint("amount_minor > 0", name="amount"),
        Index("uq_ledger_transaction_kind_reference", "kind", "reference", unique=True),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    reference: Mapped[str] = mapped_column(String(120, collation="C"))
    owner_id: Mapped[str] = mapped_column(ObjectId)
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    occurred_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    description: Mapped[str | None] = mapped_column(String(200))


class LedgerEntry(Base):
    """One leg. Those of a transaction sum to zero, which a deferred constraint trigger checks at the commit.

    `posted_at` is taken with the purse locked, so a merchant's entries have the same order by id and by time, and
    `balance_after_minor` (of their accounts only) is a running figure that `flask ledger verify` adds up again.
    """

    __tablename__ = "ledger_entry"
    __table_args__ = (
        one_of("account", ACCOUNTS),
        CheckConstraint("amount_minor <> 0", name="amount"),
        CheckConstraint(
            f"(account IN ({', '.join(map(repr, MERCHANT_ACCOUNTS))})) = (balance_after_minor IS NOT NULL)",
            name="balance",
        ),
        CheckConstraint("balance_after_minor >= 0", name="not_negative"),
        Index("ix_ledger_entry_transaction_id", "transaction_id"),
        Index("ix_ledger_entry_owner_posted", "owner_id", "posted_at", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    transaction_id: Mapped[int] = mapped_column(ForeignKey(LedgerTransaction.id))
    owner_id: Mapped[str] = mapped_column(ObjectId)
    account: Mapped[str] = mapped_column(String(20))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    balance_after_minor: Mapped[int | None] = mapped_column(BigInteger)
    posted_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.clock_timestamp())
