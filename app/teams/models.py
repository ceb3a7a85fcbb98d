"""The table of the devices of an event. The query of the caller reads it too (app/accounts/sql.py)."""

from datetime import datetime

from sqlalchemy import CHAR, ForeignKey, Index, String, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import Account
from app.accounts.permissions import DEVICE_KINDS
from app.core.db import Base, ObjectId, Timestamp, id_column, one_of
from app.events.event_rows import EventRow


class Device(EventRow, Base):
    """A phone or a scanner that serves one event. It has a pairing code until it is paired, and a token from then on.

    Only hashes are stored.
    """

    __tablename__ = "device"
    __table_args__ = (
        one_of("kind", DEVICE_KINDS),
        Index("ix_device_pairing_hash", "pairing_hash", postgresql_where=text("pairing_hash IS NOT NULL")),
        Index("ix_device_token_hash", "token_hash", postgresql_where=text("token_hash IS NOT NULL")),
    )

    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = id_column()
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(80))
    pairing_hash: Mapped[str | None] = mapped_column(CHAR(64))
    pairing_expires_at: Mapped[datetime] = mapped_column(Timestamp)
    token_hash: Mapped[str | None] = mapped_column(CHAR(64))
    created_by: Mapped[str] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    paired_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    creator: Mapped[Account] = relationship(primaryjoin="foreign(Device.created_by) == Account.id", viewonly=True)
