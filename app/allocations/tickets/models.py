"""Tables of ticket packs: tickets without names, printed for the entrance."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, String, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp, id_column

QUEUED, RUNNING, DONE = "queued", "running", "done"
STEPS: dict[str, frozenset[str]] = {QUEUED: frozenset({RUNNING, DONE}), RUNNING: frozenset({DONE}), DONE: frozenset()}


class TicketPack(Base):
    """Tickets of a block that were claimed together and printed as one PDF. `drawn` counts the tickets drawn so far."""

    __tablename__ = "ticket_pack"
    __table_args__ = (
        CheckConstraint(f"status IN ('{QUEUED}', '{RUNNING}', '{DONE}')", name="status"),
        CheckConstraint("count > 0 AND drawn BETWEEN 0 AND count", name="count"),
        Index("ix_ticket_pack_block", "block_id", "created_at", "id"),
    )

    id: Mapped[str] = id_column()
    block_id: Mapped[str] = mapped_column(ForeignKey("allocation_block.id"))
    count: Mapped[int] = mapped_column(Integer)
    status: Mapped[str] = mapped_column(String(20))
    drawn: Mapped[int] = mapped_column(Integer, default=0, server_default=text("0"))
    created_by: Mapped[str | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


class TicketPackSlot(Base):
    """The number of a slot in its pack. A slot is in one pack at most."""

    __tablename__ = "ticket_pack_slot"
    __table_args__ = (UniqueConstraint("pack_id", "number"),)

    slot_id: Mapped[str] = mapped_column(ForeignKey("allocation_slot.id"), primary_key=True)
    pack_id: Mapped[str] = mapped_column(ForeignKey("ticket_pack.id"))
    number: Mapped[int] = mapped_column(Integer)
