"""Responses stored by idempotency key, in the transaction of the request they belong to.

The row is inserted first, so a second request with the same key waits at the unique index until the first request has
committed or rolled back. A process that dies leaves no row behind.

A response may contain a token and a request body a password, so responses are stored encrypted and bodies as a keyed
hash: a stolen database has neither, nor anything to compare a guess with.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from psycopg.errors import LockNotAvailable
from sqlalchemy import (
    CHAR,
    Interval,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    bindparam,
    delete,
    func,
    null,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Base, Timestamp, fetch_row
from app.core.jobs import Delivery, Run, job
from app.core.tokens import derive
from app.core.transaction import transaction

LIFETIME = timedelta(hours=48)
NONCE_BYTES = 12


class IdempotencyKey(Base):
    """One key of one caller for one operation, with the response."""

    __tablename__ = "idempotency_key"

    scope: Mapped[str] = mapped_column(String(40, collation="C"), primary_key=True)
    operation: Mapped[str] = mapped_column(String(200, collation="C"), primary_key=True)
    key: Mapped[str] = mapped_column(String(80, collation="C"), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(CHAR(64))
    status: Mapped[int | None] = mapped_column(SmallInteger)
    content_type: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp, index=True)


_TABLE = cast(Table, IdempotencyKey.__table__)
_IS_KEY = (
    _TABLE.c.scope == bindparam("of_scope"),
    _TABLE.c.operation == bindparam("of_operation"),
    _TABLE.c.key == bindparam("of_key"),
)
_NEW_KEY = insert(_TABLE).values(
    scope=bindparam("of_scope"),
    operation=bindparam("of_operation"),
    key=bindparam("of_key"),
    fingerprint=bindparam("fingerprint"),
    expires_at=func.now() + bindparam("lifetime", type_=Interval),
)
_LOCK_KEY = _NEW_KEY.on_conflict_do_update(
    index_elements=["scope", "operation", "key"],
    set_={
        "fingerprint": _NEW_KEY.excluded.fingerprint,
        "expires_at": _NEW_KEY.excluded.expires_at,
        "status": null(),
        "body": null(),
    },
    where=_TABLE.c.expires_at < func.now(),
).returning(_TABLE.c.key)
_STORE_RESPONSE = (
    update(_TABLE)
    .where(*_IS_KEY)
    .values({name: bindparam(name) for name in ("status", "content_type", "body")})
    .returning(_TABLE.c.key)
)


@dataclass(frozen=True)
class IdempotencyScope:
    """The caller, operation and key of a stored response, and the body of the request.

    `keep_forever` stores the response without an end, else for LIFETIME. `grant` is what the caller may: only with the
    same one is the stored response given again.
    """

    scope: str
    operation: str
    key: str
    request_body: bytes
    keep_forever: bool
    grant: str = ""

    @property
    def fingerprint(self) -> str:
        return derive("idempotency.body", self.scope, self.operation, self.key, self.request_body.hex()).hex()

    @property
    def associated_data(self) -> bytes:
        return "\n".join(filter(None, (self.scope, self.operation, self.key, self.grant))).encode()


@dataclass(frozen=True)
class StoredResponse:
    """The response to the first request with a key."""

    status: int
    content_type: str
    body: bytes


class StillRunning(Exception):
    """The first request with this key has not finished within the lock timeout."""


class OtherBody(Exception):
    """The key was used with another body."""


class OtherGrant(Exception):
    """What the caller may has changed since the first request."""


def lock_key(session: OrmSession, scope: IdempotencyScope) -> StoredResponse | None:
    """Return the stored response, or None when this request is the first. Raises StillRunning, OtherBody, OtherGrant."""
    lifetime = None if scope.keep_forever else LIFETIME
    params = {**_key_params(scope), "fingerprint": scope.fingerprint, "lifetime": lifetime}
    try:
        if fetch_row(_LOCK_KEY, params) is not None:
            return None
    except LockNotAvailable as error:
        raise StillRunning() from error
    row = session.scalars(select(IdempotencyKey).where(*_IS_KEY), _key_params(scope)).one()
    if row.fingerprint != scope.fingerprint:
        raise OtherBody()
    assert row.status is not None and row.content_type is not None and row.body is not None
    try:
        return StoredResponse(row.status, row.content_type, _decrypt(row.body, scope))
    except InvalidTag as error:
        if scope.grant:
            raise OtherGrant() from error
        raise


def store_response(scope: IdempotencyScope, response: StoredResponse) -> None:
    """Store the response in the transaction of the request."""
    values = {
        "status": response.status,
        "content_type": response.content_type,
        "body": _encrypt(response.body, scope),
    }
    fetch_row(_STORE_RESPONSE, {**_key_params(scope), **values})


def release_key(session: OrmSession, scope: IdempotencyScope) -> None:
    """Free the key of a request that was refused."""
    session.execute(delete(IdempotencyKey).where(*_IS_KEY), _key_params(scope))


@job("idempotency.sweep", Delivery.LOCAL, every=timedelta(hours=1))
def sweep(run: Run) -> None:
    """Delete expired responses."""
    with transaction() as session:
        run.done_in(session)
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.expires_at < func.now()))


def _encrypt(body: bytes, scope: IdempotencyScope) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(derive("idempotency.answer")).encrypt(nonce, body, scope.associated_data)


def _decrypt(stored: bytes, scope: IdempotencyScope) -> bytes:
    nonce, body = stored[:NONCE_BYTES], stored[NONCE_BYTES:]
    return AESGCM(derive("idempotency.answer")).decrypt(nonce, body, scope.associated_data)


def _key_params(scope: IdempotencyScope) -> dict[str, str]:
    return {"of_scope": scope.scope, "of_operation": scope.operation, "of_key": scope.key}
