"""Tables of the ledger. A trigger makes entries and transactions insert-only; balances are the sums of entries.

merchant_balance   what a merchant can request        ─┐ both are columns of their balance, never below zero
merchant_held      what open payouts hold             ─┘
rail_clearing      what left by the payment rail      ─┐ accounts of the platform: without a limit and without a
platform           where earnings come from           ─┤ running balance, which all payouts would have to lock
organisation       what an organiser was paid         ─┤
bank               what came to their bank account    ─┘
"""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Identity, Index, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, one_of

MERCHANT_BALANCE, MERCHANT_HELD, RAIL_CLEARING, PLATFORM, ORGANISATION, BANK = (
    "merchant_balance",
    "merchant_held",
    "rail_clearing",
    "platform",
    "organisation",
    "bank",
)
ACCOUNTS = (MERCHANT_BALANCE, MERCHANT_HELD, RAIL_CLEARING, PLATFORM, ORGANISATION, BANK)
MERCHANT_ACCOUNTS = (MERCHANT_BALANCE, MERCHANT_HELD)
MERCHANT_KINDS = SETTLEMENT, HOLD, RELEASE, PAYOUT, RETURN = "settlement", "hold", "release", "payout", "return"
FEE_KINDS = STALL_FEE, STALL_FEE_REFUND = "stall_fee", "stall_fee_refund"
BLOCK_INVOICE = "block_invoice"
EVENT_KINDS = (*FEE_KINDS, BLOCK_INVOICE)
KINDS = (*MERCHANT_KINDS, *EVENT_KINDS)


class Balance(Base):
    """The balance of a merchant after their last entry. Every posting locks this row."""

    __tablename__ = "ledger_purse"
    __table_args__ = (
        CheckConstraint("available_minor >= 0", name="available"),
        CheckConstraint("held_minor >= 0", name="held"),
    )

    owner_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    available_minor: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    held_minor: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class LedgerTransaction(Base):
    """One movement of money of a merchant, or of an organisation at an event.

    A reference is unique per kind, so nothing is posted twice.
    """

    __tablename__ = "ledger_transaction"
    __table_args__ = (
        one_of("kind", KINDS),
        CheckConstraint("amount_minor > 0", name="amount"),
        Index("uq_ledger_transaction_kind_reference", "kind", "reference", unique=True),
        Index("ix_ledger_transaction_event", "event_id", "id", postgresql_where=text("event_id IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    reference: Mapped[str] = mapped_column(String(120, collation="C"))
    owner_id: Mapped[str] = mapped_column(ObjectId)
    event_id: Mapped[str | None] = mapped_column(ObjectId)
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    occurred_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    description: Mapped[str | None] = mapped_column(String(200))


class LedgerEntry(Base):
    """One leg of a transaction. A deferred constraint trigger checks at the commit that the legs sum to zero.

    `posted_at` is set while the balance is locked, so a merchant's entries have the same order by id and by time.
    `balance_after_minor` is the running balance of the merchant's accounts; `flask ledger verify` computes it again.
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
