"""Tables of the outbox: jobs, their attempts, the schedule and heartbeats.

ready ──lease──> leased ──> done
  ^                │ ├────> dead        it can never succeed, or has been tried often enough
  └──── retry ─────┘ └────> uncertain   at most once, and it is unknown whether it happened
ready ──> canceled, or dead after `not_after`; an operator makes dead and uncertain rows ready again
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Identity, Index, Text, func, text
from sqlalchemy.dialects.postgresql import CHAR, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp

JsonObject = dict[str, object]
STEPS: dict[str, frozenset[str]] = {
    "ready": frozenset({"leased", "dead", "canceled"}),
    "leased": frozenset({"ready", "done", "dead", "uncertain"}),
    "done": frozenset(),
    "dead": frozenset({"ready"}),
    "uncertain": frozenset({"ready"}),
    "canceled": frozenset(),
}
STATES = tuple(STEPS)


class Outbox(Base):
    """One job and its state."""

    __tablename__ = "outbox"
    __table_args__ = (
        CheckConstraint("class IN ('A', 'B', 'C')", name="class"),
        CheckConstraint(f"state IN {STATES}", name="state"),
        Index("ix_outbox_due", "critical", "bulk", "run_at", postgresql_where=text("state = 'ready'")),
        Index("ix_outbox_leased", "lease_until", postgresql_where=text("state = 'leased'")),
        Index("ix_outbox_expiry", "not_after", postgresql_where=text("state = 'ready' AND not_after IS NOT NULL")),
        Index("ix_outbox_ended", "state", "done_at", postgresql_where=text("done_at IS NOT NULL")),
        Index("ix_outbox_aggregate", "aggregate", postgresql_where=text("aggregate IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    delivery: Mapped[str] = mapped_column("class", CHAR(1))
    critical: Mapped[bool] = mapped_column(server_default=text("false"))
    bulk: Mapped[bool] = mapped_column(server_default=text("false"))
    dedupe_key: Mapped[str | None] = mapped_column(Text, unique=True)
    aggregate: Mapped[str | None] = mapped_column(Text)
    payload: Mapped[JsonObject] = mapped_column(JSONB, server_default=text("'{}'"))
    state: Mapped[str] = mapped_column(Text, server_default="ready")
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    postponed: Mapped[int] = mapped_column(server_default=text("0"))
    lost: Mapped[int] = mapped_column(server_default=text("0"))
    max_attempts: Mapped[int]
    run_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    not_after: Mapped[datetime | None] = mapped_column(Timestamp)
    lease_until: Mapped[datetime | None] = mapped_column(Timestamp)
    lease_token: Mapped[UUID | None]
    effect_at: Mapped[datetime | None] = mapped_column(Timestamp)
    done_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_error: Mapped[str | None] = mapped_column(Text)
    request_id: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class OutboxAttempt(Base):
    """One attempt at a job."""

    __tablename__ = "outbox_attempt"

    outbox_id: Mapped[int] = mapped_column(ForeignKey(Outbox.id, ondelete="CASCADE"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    started: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    ended: Mapped[datetime | None] = mapped_column(Timestamp)
    worker: Mapped[str] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(Text)


class Tick(Base):
    """The time when a recurring job is due next."""

    __tablename__ = "tick"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    due: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class Heartbeat(Base):
    """The time of a process's last heartbeat."""

    __tablename__ = "heartbeat"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
