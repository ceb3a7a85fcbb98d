"""The table of files."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column, one_of
from app.files.states import QUEUED, STEPS


class OrganisationFile(Base):
    """A file that a worker makes for an organisation: who asked for what, the progress, and in the end its content.

    `permission` is what a person needs to see it, for its event, or without an event for the whole organisation.
    """

    __tablename__ = "organisation_file"
    __table_args__ = (
        one_of("status", STEPS),
        CheckConstraint("content IS NULL OR status IN ('done', 'failed')", name="content"),
        Index("ix_organisation_file_organisation", "organisation_id", "created_at", "id"),
        Index("ix_organisation_file_expiry", "expires_at"),
    )

    id: Mapped[str] = id_column()
    organisation_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    event_id: Mapped[str | None] = mapped_column(ObjectId)
    account_id: Mapped[str] = mapped_column(ObjectId)
    kind: Mapped[str] = mapped_column(String(40))
    permission: Mapped[str] = mapped_column(String(40))
    parameters: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    input: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    status: Mapped[str] = mapped_column(String(10), default=QUEUED, server_default=QUEUED)
    progress: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    message: Mapped[str | None] = mapped_column(String(500))
    name: Mapped[str | None] = mapped_column(String(120))
    content_type: Mapped[str | None] = mapped_column(String(120))
    content: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp, server_default=text("now() + interval '7 days'"))
