"""Tokens for links and cookies: random ones, ones derived from SECRET_KEY, and signed ones with a time."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode

from flask import current_app
from itsdangerous import TimestampSigner


def opaque_token() -> str:
    """Return 256 random bits as 43 url-safe characters. Store only the `fingerprint`."""
    return secrets.token_urlsafe(32)


def fingerprint(token: str) -> str:
    """Return the SHA-256 of a token in hex, which is what the database stores."""
    return hashlib.sha256(token.encode()).hexdigest()


def derive(purpose: str, *parts: object) -> bytes:
    """Return 32 bytes that depend only on SECRET_KEY, the purpose and the parts (HMAC-SHA-256)."""
    message = "\x1f".join([purpose, *(str(part) for part in parts)])
    return hmac.digest(_key(), message.encode(), "sha256")


def derived_text(purpose: str, *parts: object) -> str:
    """Return `derive` as 43 url-safe characters."""
    return urlsafe_b64encode(derive(purpose, *parts)).rstrip(b"=").decode()


def same(left: str, right: str) -> bool:
    """Whether two texts are equal, in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def timed_signer(purpose: str) -> TimestampSigner:
    """Return a signer of texts that records when it signed. A signature for another purpose does not verify."""
    return TimestampSigner(derive(purpose), salt=purpose, key_derivation="hmac", digest_method=hashlib.sha256)


def _key() -> bytes:
    key: str = current_app.config["SECRET_KEY"]
    return key.encode()
