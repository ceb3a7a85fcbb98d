"""Answers kept by idempotency key: the row, the work it answers for and its outbox rows are one commit.

The row is inserted first, so a second request with the same key waits at the unique index until the first has
committed or vanished. Nothing is ever left `running` behind a process that died.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CHAR, DateTime, LargeBinary, SmallInteger, String, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Base

LOCK_NOT_AVAILABLE = "55P03"


class IdempotencyKey(Base):
    """One key of one caller for one operation, with the answer that was given."""

    __tablename__ = "idempotency_key"

    scope: Mapped[str] = mapped_column(String(40, collation="C"), primary_key=True)
    operation: Mapped[str] = mapped_column(String(200, collation="C"), primary_key=True)
    key: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(CHAR(64))
    status: Mapped[int | None] = mapped_column(SmallInteger)
    content_type: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True), index=True)


@dataclass(frozen=True)
class Place:
    """Where an answer is kept: whose, of which operation, under which key."""

    scope: str
    operation: str
    key: str
    fingerprint: str
    forever: bool


class StillRunning(Exception):
    """The first request with this key has not finished within the lock timeout."""


class OtherBody(Exception):
    """The key was used for another body."""


def claim(session: OrmSession, place: Place) -> IdempotencyKey | None:
    """The answer given before, or None when this request is the first. Raises StillRunning, OtherBody."""
    lifetime = None if place.forever else func.now() + text("interval '48 hours'")
    values = {"fingerprint": place.fingerprint, "expires_at": lifetime, "status": None, "body": None}
    statement = (
        insert(IdempotencyKey)
        .values(scope=place.scope, operation=place.operation, key=place.key, **values)
        .on_conflict_do_update(
            index_elements=["scope", "operation", "key"],
            set_=values,
            where=IdempotencyKey.expires_at < func.now(),
        )
        .returning(IdempotencyKey.key)
    )
    try:
        if session.execute(statement).first() is not None:
            return None
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
            raise StillRunning() from error
        raise
    earlier = session.scalars(select(IdempotencyKey).where(*_here(place))).one()
    if earlier.fingerprint != place.fingerprint:
        raise OtherBody()
    return earlier


def keep(session: OrmSession, place: Place, *, status: int, content_type: str, body: bytes) -> None:
    """Stores the answer beside the work it answers for."""
    session.execute(
        update(IdempotencyKey)
        .where(*_here(place))
        .values(status=status, content_type=content_type, body=body)
    )


def forget(session: OrmSession, place: Place) -> None:
    """Frees the key: the request was refused."""
    session.execute(delete(IdempotencyKey).where(*_here(place)))


def _here(place: Place) -> tuple[object, ...]:
    return (
        IdempotencyKey.scope == place.scope,
        IdempotencyKey.operation == place.operation,
        IdempotencyKey.key == place.key,
    )
