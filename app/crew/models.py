"""Tables of crew and shifts. Members are retired, never deleted, so their hours stay."""

from datetime import datetime

from sqlalchemy import (
    CHAR,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column
from app.crew.states import CHECKED_IN, CHECKED_OUT, ON_BREAK
from app.events.event_rows import EventRow, parent_key


class CrewMember(EventRow, Base):
    """A person at one stall. The shift code is stored as a keyed hash, unique among the stall's active crew."""

    __tablename__ = "crew_member"
    __table_args__ = (
        ForeignKeyConstraint(
            ["merchant_id", "event_id"],
            ["participation.merchant_id", "participation.event_id"],
            name="fk_crew_member_participation",
        ),
        Index(
            "uq_crew_member_code",
            "merchant_id",
            "event_id",
            "code_hash",
            unique=True,
            postgresql_where=text("retired_at IS NULL"),
        ),
        Index("ix_crew_member_stall", "merchant_id", "event_id", "position"),
    )

    id: Mapped[str] = id_column()
    merchant_id: Mapped[str] = mapped_column(ObjectId)
    position: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(String(120))
    phone: Mapped[str | None] = mapped_column(String(20))
    email: Mapped[str | None] = mapped_column(String(254))
    role: Mapped[str | None] = mapped_column(String(80))
    code_hash: Mapped[str] = mapped_column(CHAR(64))
    retired_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Shift(EventRow, Base):
    """A shift from its code to its checkout. `break_since` is set during a break; `ended_by` is `checkout` or `auto`."""

    __tablename__ = "shift"
    __table_args__ = (
        CheckConstraint("ended_at >= started_at", name="ends_after_start"),
        CheckConstraint("(ended_at IS NULL) = (ended_by IS NULL)", name="ended_by"),
        CheckConstraint("ended_at IS NULL OR break_since IS NULL", name="no_break_after_end"),
        parent_key("crew_member_id", "crew_member"),
        Index("uq_shift_open", "crew_member_id", "event_id", unique=True, postgresql_where=text("ended_at IS NULL")),
        Index("ix_shift_member", "crew_member_id", "started_at"),
        Index("ix_shift_open_since", "started_at", postgresql_where=text("ended_at IS NULL")),
    )

    id: Mapped[str] = id_column()
    crew_member_id: Mapped[str] = mapped_column(ObjectId)
    started_at: Mapped[datetime] = mapped_column(Timestamp)
    changed_at: Mapped[datetime] = mapped_column(Timestamp)
    break_since: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    ended_by: Mapped[str | None] = mapped_column(String(10))

    @property
    def status(self) -> str:
        if self.ended_at is not None:
            return CHECKED_OUT
        return ON_BREAK if self.break_since is not None else CHECKED_IN


class ShiftBreak(EventRow, Base):
    """A break that has ended."""

    __tablename__ = "shift_break"
    __table_args__ = (
        parent_key("shift_id", "shift"),
        CheckConstraint("ended_at >= started_at", name="ends_after_start"),
    )

    shift_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)
    started_at: Mapped[datetime] = mapped_column(Timestamp, primary_key=True)
    ended_at: Mapped[datetime] = mapped_column(Timestamp)


class PlannedShift(EventRow, Base):
    """A time at which a member is expected at the stall."""

    __tablename__ = "planned_shift"
    __table_args__ = (
        parent_key("crew_member_id", "crew_member"),
        CheckConstraint("ends_at > starts_at", name="ends_after_start"),
        Index("ix_planned_shift_stall", "merchant_id", "event_id", "starts_at"),
        Index("ix_planned_shift_member", "crew_member_id", "event_id"),
    )

    id: Mapped[str] = id_column()
    merchant_id: Mapped[str] = mapped_column(ObjectId)
    crew_member_id: Mapped[str] = mapped_column(ObjectId)
    starts_at: Mapped[datetime] = mapped_column(Timestamp)
    ends_at: Mapped[datetime] = mapped_column(Timestamp)
    note: Mapped[str | None] = mapped_column(String(200))


class CodeGuard(Base):
    """Tries of shift codes for one member, or for a stall if the request names no member."""

    __tablename__ = "code_guard"

    subject: Mapped[str] = mapped_column(String(60, collation="C"), primary_key=True)
    tries: Mapped[int] = mapped_column(Integer)
    last_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
