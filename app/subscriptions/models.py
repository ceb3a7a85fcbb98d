"""Tables of who may be written to, how, and who may not.

A person is an e-mail address, lower-case as accounts keep it: holders of tickets need no account.
"""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column, one_of
from app.subscriptions.channels import CHANNELS, PLATFORMS

Address = String(254)
Token = String(1024, collation="C")


class Unsubscribe(Base):
    """Somebody wants no more messages of one organiser, or of any (`organiser_id` null); it ends all channels."""

    __tablename__ = "unsubscribe"
    __table_args__ = (
        UniqueConstraint("address", "organiser_id", postgresql_nulls_not_distinct=True),
        Index("ix_unsubscribe_organiser_id", "organiser_id"),
    )

    id: Mapped[str] = id_column()
    address: Mapped[str] = mapped_column(Address)
    organiser_id: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class ChannelPreference(Base):
    """Whether an account wants messages on a channel; where there is no row, it does."""

    __tablename__ = "channel_preference"
    __table_args__ = (one_of("channel", CHANNELS),)

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    channel: Mapped[str] = mapped_column(String(10), primary_key=True)
    wanted: Mapped[bool] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Suppression(Base):
    """An address that has refused for good: a mailbox that does not exist, a number that is none."""

    __tablename__ = "suppression"
    __table_args__ = (one_of("channel", CHANNELS),)

    channel: Mapped[str] = mapped_column(String(10), primary_key=True)
    address: Mapped[str] = mapped_column(String(1024), primary_key=True)
    reason: Mapped[str] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class PushDevice(Base):
    """A telephone or browser that shows messages, by the token its push service gave it."""

    __tablename__ = "push_device"
    __table_args__ = (one_of("platform", PLATFORMS), Index("ix_push_device_account", "account_id", "seen_at"))

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    token: Mapped[str] = mapped_column(Token, unique=True)
    platform: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
