"""The keys that sign access tokens: RS256, the asymmetric algorithm that is cheapest to verify.

Every process caches the keys for a minute. An unknown key id reloads them, at most ten times in five seconds: a key
that another node has just created works immediately, and invented ids cost little. A retired key verifies tokens until
the last token that it signed has expired.
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
from app.core.transaction import lock_name, transaction

ALGORITHM = "RS256"
CACHE_SECONDS = 60.0
MAX_RELOADS, RELOAD_WINDOW_SECONDS = 10, 5.0
RETIRED_KEY_LIFETIME = text("interval '1 hour'")


class UnknownKey(LookupError):
    """There is no current or recently retired key with this id."""


@dataclass(frozen=True)
class SigningKeyPair:
    kid: str
    private_key: rsa.RSAPrivateKey
    public_key: rsa.RSAPublicKey


@dataclass
class KeyRing:
    """The signing keys that one process has cached."""

    keys: dict[str, SigningKeyPair] = field(default_factory=dict)
    current_key: SigningKeyPair | None = None
    loaded_at: float = float("-inf")
    key_set_version: int = 0
    reload_times: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_RELOADS))
    lock: Lock = field(default_factory=Lock)

    def may_reload(self) -> bool:
        """Whether an unknown key id may reload the keys now. Counts the reload."""
        now, is_full = time.monotonic(), len(self.reload_times) == MAX_RELOADS
        if is_full and now - self.reload_times[0] < RELOAD_WINDOW_SECONDS:
            return False
        self.reload_times.append(now)
        return True


def get_current_key() -> SigningKeyPair:
    """The key that signs new tokens. Creates it when there is none."""
    key_ring = _get_key_ring()
    if key_ring.current_key is None or time.monotonic() - key_ring.loaded_at > CACHE_SECONDS:
        _load_keys(key_ring)
    if key_ring.current_key is None:
        rotate_signing_key(only_if_missing=True)
        _load_keys(key_ring)
    assert key_ring.current_key is not None
    return key_ring.current_key


def get_public_key(kid: str) -> rsa.RSAPublicKey:
    """The public half of a current or recently retired key. Raises UnknownKey."""
    key_ring = _get_key_ring()
    if time.monotonic() - key_ring.loaded_at > CACHE_SECONDS or (kid not in key_ring.keys and key_ring.may_reload()):
        _load_keys(key_ring)
    if kid not in key_ring.keys:
        raise UnknownKey(kid[:24])
    return key_ring.keys[kid].public_key


def get_key_set_version() -> int:
    """A number that changes with the set of keys, so that cached tokens of a removed key are not used."""
    return _get_key_ring().key_set_version


def rotate_signing_key(*, only_if_missing: bool = False) -> str:
    """Creates a signing key and retires the previous one. Returns the id of the current key."""
    pem = _encrypt_private_key(rsa.generate_private_key(65537, 2048))
    with transaction() as session:
        lock_name(session, "signing-key")
        current_key = session.scalar(_active_keys_query().limit(1))
        if current_key is not None and only_if_missing:
            return current_key.kid
        session.execute(update(SigningKey).where(SigningKey.retired_at.is_(None)).values(retired_at=func.now()))
        key = SigningKey(kid=new_id(), private_pem=pem)
        session.add(key)
    _get_key_ring().loaded_at = float("-inf")
    return key.kid


def _active_keys_query() -> Select[SigningKey]:
    return select(SigningKey).where(SigningKey.retired_at.is_(None)).order_by(SigningKey.created_at.desc())


def _get_key_ring() -> KeyRing:
    key_ring: KeyRing = current_app.extensions.setdefault("signing_keys", KeyRing())
    return key_ring


def _load_keys(key_ring: KeyRing) -> None:
    is_usable = (SigningKey.retired_at.is_(None)) | (SigningKey.retired_at > func.now() - RETIRED_KEY_LIFETIME)
    rows = db.session.scalars(select(SigningKey).where(is_usable).order_by(SigningKey.created_at)).all()
    with key_ring.lock:
        keys = {row.kid: key_ring.keys.get(row.kid) or _decrypt_key_pair(row) for row in rows}
        if keys.keys() != key_ring.keys.keys():
            key_ring.key_set_version += 1
        key_ring.keys = keys
        key_ring.current_key = next((keys[row.kid] for row in reversed(rows) if row.retired_at is None), None)
        key_ring.loaded_at = time.monotonic()


def _passphrase() -> bytes:
    return derived_text("signing-key").encode()


def _encrypt_private_key(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(_passphrase()),
    ).decode()


def _decrypt_key_pair(row: SigningKey) -> SigningKeyPair:
    private_key = serialization.load_pem_private_key(row.private_pem.encode(), _passphrase())
    assert isinstance(private_key, rsa.RSAPrivateKey)
    return SigningKeyPair(row.kid, private_key, private_key.public_key())
