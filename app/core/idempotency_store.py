"""Answers kept by idempotency key: the row, the work it answers for and its outbox rows are one commit.

The row is inserted first, so a second request with the same key waits at the unique index until the first has
committed or vanished. Nothing is ever left `running` behind a process that died.

An answer may hold a token and a body a password, so answers are kept encrypted and bodies as a keyed hash: a
stolen database holds neither, nor anything that a guess could be compared with.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import (
    CHAR,
    ColumnElement,
    LargeBinary,
    SmallInteger,
    String,
    delete,
    func,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Base, Timestamp
from app.core.jobs import Delivery, Run, job
from app.core.tokens import derive
from app.core.transaction import transaction

LOCK_NOT_AVAILABLE = "55P03"
NONCE = 12


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
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp, index=True)


@dataclass(frozen=True)
class IdempotencyScope:
    """Where an answer is kept: whose, of which operation, under which key; and the body that asked for it."""

    scope: str
    operation: str
    key: str
    asked: bytes
    forever: bool

    @property
    def fingerprint(self) -> str:
        return derive("idempotency.body", self.scope, self.operation, self.key, self.asked.hex()).hex()

    @property
    def name(self) -> bytes:
        return "\n".join((self.scope, self.operation, self.key)).encode()


@dataclass(frozen=True)
class StoredResponse:
    """What was answered first."""

    status: int
    content_type: str
    body: bytes


class StillRunning(Exception):
    """The first request with this key has not finished within the lock timeout."""


class OtherBody(Exception):
    """The key was used for another body."""


def lock_key(session: OrmSession, place: IdempotencyScope) -> StoredResponse | None:
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
    earlier = session.scalars(select(IdempotencyKey).where(*_key_filter(place))).one()
    if earlier.fingerprint != place.fingerprint:
        raise OtherBody()
    assert earlier.status is not None and earlier.content_type is not None and earlier.body is not None
    return StoredResponse(earlier.status, earlier.content_type, _decrypt(earlier.body, place))


def store_response(session: OrmSession, place: IdempotencyScope, answer: StoredResponse) -> None:
    """Stores the answer beside the work it answers for."""
    kept = {"status": answer.status, "content_type": answer.content_type, "body": _encrypt(answer.body, place)}
    session.execute(update(IdempotencyKey).where(*_key_filter(place)).values(kept))


def release_key(session: OrmSession, place: IdempotencyScope) -> None:
    """Frees the key: the request was refused."""
    session.execute(delete(IdempotencyKey).where(*_key_filter(place)))


@job("idempotency.sweep", Delivery.LOCAL, every=timedelta(hours=1))
def sweep(run: Run) -> None:
    """Removes answers that nobody can ask for again."""
    with transaction() as session:
        run.done_in(session)
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.expires_at < func.now()))


def _encrypt(body: bytes, place: IdempotencyScope) -> bytes:
    nonce = secrets.token_bytes(NONCE)
    return nonce + AESGCM(derive("idempotency.answer")).encrypt(nonce, body, place.name)


def _decrypt(kept: bytes, place: IdempotencyScope) -> bytes:
    return AESGCM(derive("idempotency.answer")).decrypt(kept[:NONCE], kept[NONCE:], place.name)


def _key_filter(place: IdempotencyScope) -> tuple[ColumnElement[bool], ...]:
    return (
        IdempotencyKey.scope == place.scope,
        IdempotencyKey.operation == place.operation,
        IdempotencyKey.key == place.key,
    )
