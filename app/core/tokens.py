"""Secrets that travel: opaque tokens, and values derived by keyed hash so that nothing needs storing."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode

from flask import current_app


def opaque_token() -> str:
    """256 random bits, url-safe. Store only its `fingerprint`."""
    return secrets.token_urlsafe(32)


def fingerprint(token: str) -> str:
    """SHA-256 in hex: what the database keeps of an opaque token."""
    return hashlib.sha256(token.encode()).hexdigest()


def derive(purpose: str, *parts: object) -> bytes:
    """32 bytes that follow from SECRET_KEY, the purpose and the parts, and from nothing else."""
    message = "\x1f".join([purpose, *(str(part) for part in parts)])
    return hmac.digest(_key(), message.encode(), "sha256")


def derived_text(purpose: str, *parts: object) -> str:
    """`derive` as 43 url-safe characters."""
    return urlsafe_b64encode(derive(purpose, *parts)).rstrip(b"=").decode()


def same(left: str, right: str) -> bool:
    """Constant-time equality of two texts."""
    return hmac.compare_digest(left.encode(), right.encode())


def _key() -> bytes:
    key: str = current_app.config["SECRET_KEY"]
    return key.encode()
