"""Tables of payouts: payouts, their history, reviews, callbacks of the rail, statements."""

from datetime import date, datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Date,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    String,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column, one_of
from app.payouts.states import ACTORS, SERVICE, STATES, STEPS

CURRENCY = "NAD"
UNFINISHED_CONDITION = text("status IN ('scheduled', 'requested', 'processing')")
TRANSITIONS_SQL = ", ".join(
    f"('{from_status}', '{to_status}')" for from_status, to_statuses in STEPS.items() for to_status in to_statuses
)


class Payout(Base):
    """A merchant's payout. `actor` and `reason` are of the last step; a trigger copies them into `payout_event`.

    `sealed_to` is the encrypted destination at the time of the request. Deleting the merchant erases it, and sets
    `shown_as` to `deleted`. `due_at` is the latest time of the next step; an overdue payout has lost its job and gets a
    new one.

    `wallet_mark` is a keyed hash of the destination, a wallet or a bank account. `held_until` is set when nothing was
    paid to the destination before the request; the payout leaves after that time and after its owner was notified.
    """

    __tablename__ = "payout"
    __mapper_args__ = {"eager_defaults": True}
    __table_args__ = (
        CheckConstraint("amount_minor > 0", name="amount"),
        one_of("status", STATES),
        one_of("actor", ACTORS),
        CheckConstraint("destination IN ('payrail', 'bank')", name="destination"),
        CheckConstraint("mode IN ('now', 'schedule')", name="mode"),
        CheckConstraint("(mode = 'schedule') = (scheduled_for IS NOT NULL)", name="scheduled_for"),
        Index("ix_payout_account_created", "account_id", "created_at", "id"),
        Index("ix_payout_account_amount", "account_id", "amount_minor", "id"),
        Index("ix_payout_account_status", "account_id", "status", "created_at", "id"),
        Index(
            "ix_payout_account_scheduled",
            "account_id",
            "scheduled_for",
            postgresql_where=text("status = 'scheduled'"),
        ),
        Index(
            "uq_payout_account_key",
            "account_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("ix_payout_due", "due_at", postgresql_where=UNFINISHED_CONDITION),
        Index("ix_payout_account_paid", "account_id", "wallet_mark", postgresql_where=text("status = 'paid'")),
    )

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    destination: Mapped[str] = mapped_column(String(10))
    sealed_to: Mapped[bytes | None] = mapped_column(LargeBinary)
    shown_as: Mapped[str] = mapped_column(String(60))
    wallet_mark: Mapped[str | None] = mapped_column(String(32, collation="C"))
    mode: Mapped[str] = mapped_column(String(10))
    scheduled_for: Mapped[datetime | None] = mapped_column(Timestamp)
    idempotency_key: Mapped[str | None] = mapped_column(String(80, collation="C"))
    status: Mapped[str] = mapped_column(String(15))
    actor: Mapped[str] = mapped_column(String(10), server_default=SERVICE)
    reason: Mapped[str | None] = mapped_column(String(200))
    due_at: Mapped[datetime] = mapped_column(Timestamp)
    held_until: Mapped[datetime | None] = mapped_column(Timestamp)
    owner_told_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    submitted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    settled_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, server_default=text("1"))


class PayoutEvent(Base):
    """A step of a payout, inserted by a trigger on `payout` and never changed. A constraint allows only known steps."""

    __tablename__ = "payout_event"
    __table_args__ = (
        CheckConstraint(f"(coalesce(from_status, ''), to_status) IN ({TRANSITIONS_SQL})", name="edge"),
        Index("ix_payout_event_payout_id", "payout_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    payout_id: Mapped[str] = mapped_column(ForeignKey(Payout.id))
    from_status: Mapped[str | None] = mapped_column(String(15))
    to_status: Mapped[str] = mapped_column(String(15))
    actor: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str | None] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.clock_timestamp())


class PayoutReview(Base):
    """A problem that a person has to look at; at most one open row per reference and kind."""

    __tablename__ = "payout_review"
    __table_args__ = (
        Index("uq_payout_review_open", "reference", "kind", unique=True, postgresql_where=text("resolved_at IS NULL")),
        Index("ix_payout_review_reference", "reference", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    reference: Mapped[str] = mapped_column(String(80, collation="C"))
    kind: Mapped[str] = mapped_column(String(20))
    detail: Mapped[dict[str, object]] = mapped_column(JSONB, server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    resolved_at: Mapped[datetime | None] = mapped_column(Timestamp)
    note: Mapped[str | None] = mapped_column(String(500))


class PayrailCallback(Base):
    """A callback of the rail. Its event id is the primary key, so a repeated one is ignored."""

    __tablename__ = "payrail_callback"
    __table_args__ = (Index("ix_payrail_callback_reference", "reference"),)

    event_id: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    reference: Mapped[str] = mapped_column(String(80, collation="C"))
    outcome: Mapped[str] = mapped_column(String(20))
    amount_minor: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    at: Mapped[datetime] = mapped_column(Timestamp)
    heard_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class PayoutStatement(Base):
    """A monthly statement whose mail was enqueued; one per merchant and month."""

    __tablename__ = "payout_statement"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    month: Mapped[date] = mapped_column(Date, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
