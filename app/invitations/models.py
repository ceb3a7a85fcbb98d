"""Tables of invitations and participation."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    String,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column
from app.events.event_rows import EventRow, event_column
from app.invitations.states import PENDING
from app.merchants.states import CLOSED


class EventInvite(EventRow, Base):
    """An organiser's invitation to one merchant. A merchant has at most one pending or accepted invitation per event."""

    __tablename__ = "event_invite"
    __table_args__ = (
        CheckConstraint("status IN ('pending', 'accepted', 'declined', 'withdrawn', 'expired')", name="status"),
        CheckConstraint("fee_minor >= 0", name="fee"),
        Index(
            "uq_event_invite_living",
            "event_id",
            "merchant_id",
            unique=True,
            postgresql_where=text("status IN ('pending', 'accepted')"),
        ),
        Index("ix_event_invite_event", "event_id", "merchant_id", "id"),
        Index("ix_event_invite_merchant", "merchant_id", "created_at", "id"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    merchant_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    invited_by: Mapped[str] = mapped_column(ForeignKey("account.id"))
    status: Mapped[str] = mapped_column(String(10), default=PENDING, server_default=PENDING)
    message: Mapped[str | None] = mapped_column(String(1000))
    stall_type: Mapped[str | None] = mapped_column(String(120))
    fee_minor: Mapped[int | None] = mapped_column(BigInteger)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    reply: Mapped[str | None] = mapped_column(String(1000))
    automatic: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    decided_at: Mapped[datetime | None] = mapped_column(Timestamp)
    version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class InviteLink(EventRow, Base):
    """An invitation to apply, for anyone who has its link. The slug is derived from the id and not stored.

    `invited_address` is the address it was mailed to while the link is valid: an event invites an address once.
    """

    __tablename__ = "invite_link"
    __table_args__ = (
        CheckConstraint("fee_minor >= 0", name="fee"),
        CheckConstraint("uses >= 0 AND uses <= max_uses", name="uses"),
        Index("ix_invite_link_event", "event_id", "id"),
        Index(
            "uq_invite_link_invited",
            "event_id",
            "invited_address",
            unique=True,
            postgresql_where=text("invited_address IS NOT NULL"),
        ),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = event_column()
    made_by: Mapped[str] = mapped_column(ForeignKey("account.id"))
    email: Mapped[str | None] = mapped_column(String(254))
    business_name: Mapped[str | None] = mapped_column(String(200))
    stall_type: Mapped[str | None] = mapped_column(String(120))
    fee_minor: Mapped[int | None] = mapped_column(BigInteger)
    message: Mapped[str | None] = mapped_column(String(1000))
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    max_uses: Mapped[int | None] = mapped_column(Integer)
    uses: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    declined_at: Mapped[datetime | None] = mapped_column(Timestamp)
    invited_address: Mapped[str | None] = mapped_column(String(254))
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Participation(Base):
    """A merchant's stall at an event, with its crew, shifts and floor status.

    A floor status that was set before the merchant's last pause counts as closed. `crew_version` and
    `plan_version` are the versions of the crew and of its planned shifts as resources, `place_version` that of the stall's
    number, power, water and note. `check_in_secret` is the encrypted
    secret of the rotating code; None while the stall has none.
    """

    __tablename__ = "participation"
    __table_args__ = (
        CheckConstraint("floor_status IN ('open', 'busy', 'paused', 'closed')", name="floor_status"),
        Index("ix_participation_event", "event_id", "merchant_id"),
    )

    merchant_id: Mapped[str] = mapped_column(ForeignKey("account.id"), primary_key=True)
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id"), primary_key=True)
    stall_type: Mapped[str | None] = mapped_column(String(120))
    fee_minor: Mapped[int | None] = mapped_column(BigInteger)
    floor_status: Mapped[str] = mapped_column(String(10), default=CLOSED, server_default=CLOSED)
    floor_set_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    crew_version: Mapped[int] = mapped_column(Integer, default=1, server_default=text("1"))
    plan_version: Mapped[int] = mapped_column(Integer, server_default=text("1"))
    check_in_secret: Mapped[str | None] = mapped_column(String(120))
    stall_number: Mapped[str | None] = mapped_column(String(20))
    power: Mapped[str | None] = mapped_column(String(80))
    water: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    place_note: Mapped[str | None] = mapped_column(String(500))
    place_version: Mapped[int] = mapped_column(Integer, server_default=text("1"))
    joined_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
