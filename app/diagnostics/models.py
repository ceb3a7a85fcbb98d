"""The table of client reports; no other table refers to it."""

from datetime import datetime

from sqlalchemy import BigInteger, Identity, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Timestamp


class DiagnosticEvent(Base):
    """One event reported by a client."""

    __tablename__ = "diagnostic_event"

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    client: Mapped[str | None] = mapped_column(String(40))
    level: Mapped[str] = mapped_column(String(20))
    message: Mapped[str] = mapped_column(String(2000))
    event: Mapped[dict[str, object]] = mapped_column(JSONB)
    request_id: Mapped[str | None] = mapped_column(String(64))
    received_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now(), index=True)
