"""Mails about an event that could not be delivered: to applicants, guests, holders of blocks and invited merchants."""

from datetime import datetime

from sqlalchemy import Index, String, func
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column
from app.events.event_rows import EventRow


class FailedMail(EventRow, Base):
    """A mail that the mail server refused, or that could not be handed over for a day.

    `kind` is that of the job that sent it; the mail belongs to an application, to a block, or to neither. There are no
    foreign keys: people look at a failure although its subject is gone.
    """

    __tablename__ = "failed_mail"
    __table_args__ = (Index("ix_failed_mail_event", "event_id", "failed_at", "id"),)

    id: Mapped[str] = id_column()
    kind: Mapped[str] = mapped_column(String(60))
    application_id: Mapped[str | None] = mapped_column(ObjectId)
    block_id: Mapped[str | None] = mapped_column(ObjectId)
    address: Mapped[str] = mapped_column(String(254))
    reason: Mapped[str] = mapped_column(String(500))
    failed_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
