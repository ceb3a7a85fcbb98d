"""The keys that sign access tokens: RS256, the asymmetric algorithm that verifies cheapest.

Every process reads them from the database and keeps them for a minute; an unknown key id makes it look again, at most
ten times in five seconds: a key that another node has just made is known at once, and made-up ids cost little.
A retired key goes on verifying until the last token it signed has expired.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from threading import Lock

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import current_app
from sqlalchemy import Select, func, select, text, update

from app.accounts.models import SigningKey
from app.core.db import db
from app.core.ids import new_id
from app.core.tokens import derived_text
from app.core.transaction import transaction

ALGORITHM = "RS256"
FRESH_SECONDS = 60.0
LOOKS, RETRY_SECONDS = 10, 5.0
VERIFIES_AFTER_RETIREMENT = text("interval '1 hour'")


class UnknownKey(LookupError):
    """No key of that id may sign here."""


@dataclass(frozen=True)
class Key:
    kid: str
    private: rsa.RSAPrivateKey
    public: rsa.RSAPublicKey


@dataclass
class Ring:
    """What one process knows of the keys."""

    keys: dict[str, Key] = field(default_factory=dict)
    current: Key | None = None
    read_at: float = float("-inf")
    generation: int = 0
    looked_at: deque[float] = field(default_factory=lambda: deque(maxlen=LOOKS))
    lock: Lock = field(default_factory=Lock)

    def may_look(self) -> bool:
        """Whether an unknown key id is worth a question now; counts it."""
        now, full = time.monotonic(), len(self.looked_at) == LOOKS
        if full and now - self.looked_at[0] < RETRY_SECONDS:
            return False
        self.looked_at.append(now)
        return True


def current() -> Key:
    """The key that signs now; the first caller ever makes one."""
    ring = _ring()
    if ring.current is None or time.monotonic() - ring.read_at > FRESH_SECONDS:
        _read(ring)
    if ring.current is None:
        rotate(only_if_none=True)
        _read(ring)
    assert ring.current is not None
    return ring.current


def published(kid: str) -> rsa.RSAPublicKey:
    """The public half of a key that signs or has signed lately. Raises UnknownKey."""
    ring = _ring()
    if time.monotonic() - ring.read_at > FRESH_SECONDS or (kid not in ring.keys and ring.may_look()):
        _read(ring)
    if kid not in ring.keys:
        raise UnknownKey(kid[:24])
    return ring.keys[kid].public


def generation() -> int:
    """Changes whenever the set of keys does, so that nothing verified by a removed key is remembered."""
    return _ring().generation


def rotate(*, only_if_none: bool = False) -> str:
    """Makes a new signing key and retires the one before; the id of the key that signs from now on."""
    pem = _encrypted(rsa.generate_private_key(65537, 2048))
    with transaction() as session:
        session.execute(text("SELECT pg_advisory_xact_lock(hashtext('signing_key'))"))
        newest = session.scalar(_live().limit(1))
        if newest is not None and only_if_none:
            return newest.kid
        session.execute(update(SigningKey).where(SigningKey.retired_at.is_(None)).values(retired_at=func.now()))
        key = SigningKey(kid=new_id(), private_pem=pem)
        session.add(key)
    _ring().read_at = float("-inf")
    return key.kid


def _live() -> Select[SigningKey]:
    return select(SigningKey).where(SigningKey.retired_at.is_(None)).order_by(SigningKey.created_at.desc())


def _ring() -> Ring:
    ring: Ring = current_app.extensions.setdefault("signing_keys", Ring())
    return ring


def _read(ring: Ring) -> None:
    recent = (SigningKey.retired_at.is_(None)) | (SigningKey.retired_at > func.now() - VERIFIES_AFTER_RETIREMENT)
    rows = db.session.scalars(select(SigningKey).where(recent).order_by(SigningKey.created_at)).all()
    with ring.lock:
        keys = {row.kid: ring.keys.get(row.kid) or _decrypted(row) for row in rows}
        if keys.keys() != ring.keys.keys():
            ring.generation += 1
        ring.keys = keys
        ring.current = next((keys[row.kid] for row in reversed(rows) if row.retired_at is None), None)
        ring.read_at = time.monotonic()


def _passphrase() -> bytes:
    return derived_text("signing-key").encode()


def _encrypted(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(_passphrase()),
    ).decode()


def _decrypted(row: SigningKey) -> Key:
    private = serialization.load_pem_private_key(row.private_pem.encode(), _passphrase())
    assert isinstance(private, rsa.RSAPrivateKey)
    return Key(row.kid, private, private.public_key())
