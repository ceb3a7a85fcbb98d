"""Tables of what owners do with their own accounts: second factors, and changes of address."""

from datetime import datetime

from sqlalchemy import CHAR, BigInteger, ForeignKey, Index, Integer, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column


class SecondFactor(Base):
    """The secret of an account's authenticator app. It counts once `account.second_factor_since` is set.

    The secret is encrypted with SECRET_KEY and the id of the account. `last_step` is the time step of the last code that
    was used, so that no code works twice.
    """

    __tablename__ = "second_factor"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    last_step: Mapped[int | None] = mapped_column(BigInteger)


class RecoveryCode(Base):
    """A code that replaces a code of the app once. Only its keyed hash is stored."""

    __tablename__ = "recovery_code"

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    code_hash: Mapped[str] = mapped_column(CHAR(64), primary_key=True)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class SignInChallenge(Base):
    """A sign-in whose first step is done: the password, Apple or Google. A success deletes it."""

    __tablename__ = "sign_in_challenge"

    token_hash: Mapped[str] = mapped_column(CHAR(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), index=True)
    password_version: Mapped[int] = mapped_column(Integer)
    tries: Mapped[int] = mapped_column(Integer, default=0)
    expires_at: Mapped[datetime] = mapped_column(Timestamp, index=True)


class AddressChange(Base):
    """A change of an account's address: pending until it is confirmed, then open to be undone until `undo_until`.

    While it can be undone, nobody else can take the old address. `ended_at` is set when it was undone, when an earlier
    change was undone, when the account got the old address back, or when there is nothing to undo.
    """

    __tablename__ = "address_change"
    __table_args__ = (
        Index("ix_address_change_account", "account_id", "confirmed_at"),
        Index(
            "ix_address_change_reserved",
            "old_email",
            postgresql_where=text("confirmed_at IS NOT NULL AND ended_at IS NULL"),
        ),
        Index(
            "uq_address_change_pending",
            "account_id",
            unique=True,
            postgresql_where=text("confirmed_at IS NULL AND ended_at IS NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    old_email: Mapped[str] = mapped_column(String(254))
    new_email: Mapped[str] = mapped_column(String(254))
    password_version: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    undo_hash: Mapped[str | None] = mapped_column(CHAR(64), unique=True)
    undo_until: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
