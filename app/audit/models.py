"""The table of the audit trail."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.audit.actions import ACTOR_KINDS
from app.core.db import Base, ObjectId, Timestamp, one_of
from app.core.ids import NEW_ID_SQL

MINIMUM_DAYS = 365
"""The database refuses to change an entry, and to delete one that is younger."""


def _index(name: str, column: str) -> Index:
    return Index(f"ix_audit_entry_{name}", column, "at", "id", postgresql_where=text(f"{column} IS NOT NULL"))


class AuditEntry(Base):
    """One act. It has ids and no names, and no foreign keys: it stays when what it names is deleted.

    `actor_id` is the account that acted, and `session_id` its session, or the device or API key that acted for it.
    `account_id` is the account on which something was done. `network` is truncated.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        one_of("actor_kind", ACTOR_KINDS),
        _index("organisation", "organisation_id"),
        _index("event", "event_id"),
        _index("account", "account_id"),
        _index("actor", "actor_id"),
        Index("ix_audit_entry_at", "at", "id"),
        Index("ix_audit_entry_application", "subject_id", "at", postgresql_where=text("subject_kind = 'application'")),
    )

    id: Mapped[str] = mapped_column(ObjectId, primary_key=True, server_default=text(NEW_ID_SQL))
    at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.clock_timestamp())
    action: Mapped[str] = mapped_column(String(40))
    actor_kind: Mapped[str] = mapped_column(String(10))
    actor_id: Mapped[str | None] = mapped_column(ObjectId)
    session_id: Mapped[str | None] = mapped_column(ObjectId)
    organisation_id: Mapped[str | None] = mapped_column(ObjectId)
    event_id: Mapped[str | None] = mapped_column(ObjectId)
    account_id: Mapped[str | None] = mapped_column(ObjectId)
    subject_kind: Mapped[str] = mapped_column(String(20))
    subject_id: Mapped[str | None] = mapped_column(String(120, collation="C"))
    network: Mapped[str | None] = mapped_column(String(45))
    request_id: Mapped[str | None] = mapped_column(String(64))
    data: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
