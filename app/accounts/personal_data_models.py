"""Tables of what admins did to accounts, and of copies of personal data."""

from datetime import datetime

from sqlalchemy import CHAR, BigInteger, Boolean, CheckConstraint, ForeignKey, Identity, Index, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column, one_of

SUSPENDED, RESTORED, SESSIONS_ENDED = "suspended", "restored", "sessions_ended"
QUEUED, DONE, FAILED = "queued", "done", "failed"
EXPORT_STEPS: dict[str, frozenset[str]] = {
    QUEUED: frozenset({DONE, FAILED}),
    DONE: frozenset(),
    FAILED: frozenset(),
}


class AccountAct(Base):
    """What an admin did to an account, when and why. Rows are only added.

    Its owner gets a mail about it; if not, `not_told_reason` says why.
    """

    __tablename__ = "account_act"
    __table_args__ = (
        one_of("verb", (SUSPENDED, RESTORED, SESSIONS_ENDED)),
        CheckConstraint("owner_told = (not_told_reason IS NULL)", name="not_told_reason"),
        Index("ix_account_act_account", "account_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    admin_id: Mapped[str] = mapped_column(ObjectId)
    verb: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str | None] = mapped_column(String(500))
    owner_told: Mapped[bool] = mapped_column(Boolean)
    not_told_reason: Mapped[str | None] = mapped_column(String(500))
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class DataExport(Base):
    """A copy of a person's data that they asked for: a file in the private storage, and the hash of its link's token."""

    __tablename__ = "data_export"
    __table_args__ = (
        one_of("status", EXPORT_STEPS),
        CheckConstraint("(status = 'done') = (token_hash IS NOT NULL AND expires_at IS NOT NULL)", name="done"),
        Index("uq_data_export_queued", "account_id", unique=True, postgresql_where=text("status = 'queued'")),
        Index("ix_data_export_account", "account_id", "id"),
    )

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(String(10), default=QUEUED, server_default=QUEUED)
    token_hash: Mapped[str | None] = mapped_column(CHAR(64), unique=True)
    size: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
