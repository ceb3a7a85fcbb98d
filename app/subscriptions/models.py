"""Tables of unsubscriptions, channel preferences, suppressed addresses and push devices.

A person is identified by their lower-case e-mail address, because ticket holders need no account.
"""

from datetime import datetime

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column, one_of
from app.subscriptions.channels import CHANNELS, PLATFORMS

Address = String(254)
Token = String(1024, collation="C")


class Unsubscribe(Base):
    """An address wants no messages of one organiser, or of any (`organiser_id` is null), on all channels.

    With `by_organiser` the organisation entered the address itself, and may remove it; else only the person may.
    """

    __tablename__ = "unsubscribe"
    __table_args__ = (
        UniqueConstraint("address", "organiser_id", postgresql_nulls_not_distinct=True),
        Index("ix_unsubscribe_organiser_id", "organiser_id"),
    )

    id: Mapped[str] = id_column()
    address: Mapped[str] = mapped_column(Address)
    organiser_id: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    by_organiser: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class ChannelPreference(Base):
    """Whether an account wants messages on a channel. Without a row it does."""

    __tablename__ = "channel_preference"
    __table_args__ = (one_of("channel", CHANNELS),)

    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    channel: Mapped[str] = mapped_column(String(10), primary_key=True)
    wanted: Mapped[bool] = mapped_column(Boolean)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Suppression(Base):
    """An address with a permanent delivery error, such as a mailbox or number that does not exist."""

    __tablename__ = "suppression"
    __table_args__ = (one_of("channel", CHANNELS),)

    channel: Mapped[str] = mapped_column(String(10), primary_key=True)
    address: Mapped[str] = mapped_column(String(1024), primary_key=True)
    reason: Mapped[str] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class PushDevice(Base):
    """A phone or browser that shows push messages, with the token of its push service."""

    __tablename__ = "push_device"
    __table_args__ = (one_of("platform", PLATFORMS), Index("ix_push_device_account", "account_id", "seen_at"))

    id: Mapped[str] = id_column()
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    token: Mapped[str] = mapped_column(Token, unique=True)
    platform: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
