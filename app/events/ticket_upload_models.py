"""The table of uploaded files of sold tickets."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Integer, LargeBinary, SmallInteger, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ObjectId, Timestamp, id_column
from app.events.event_rows import EventRow


class TicketUpload(EventRow, Base):
    """A file of sold tickets between its upload and its import. Kept for two days, for the person who uploaded it.

    - `sample` has the columns of the file with their first values, `format` the layout that its columns have.
    - `options` are those of the last check or import; `asked_at` is set while a job works on it, until there is a `result`.
    - An upload that was imported has an `import_id` and no `data`.
    """

    __tablename__ = "ticket_upload"
    __table_args__ = (
        Index("ix_ticket_upload_created", "created_at"),
        Index("ix_ticket_upload_event", "event_id", "account_id"),
    )

    id: Mapped[str] = id_column()
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ObjectId)
    file_name: Mapped[str | None] = mapped_column(String(200))
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    size: Mapped[int] = mapped_column(Integer)
    rows: Mapped[int] = mapped_column(Integer)
    sample: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    format: Mapped[str | None] = mapped_column(String(20))
    options: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    asked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    progress: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    import_id: Mapped[str | None] = mapped_column(ObjectId)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())
