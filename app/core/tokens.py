"""Tokens for links and cookies: random, derived from SECRET_KEY, signed with a time, or encrypted (AES-SIV).

    token, expires = sign_download_token("stock-report", job.id, caller.session_id)   # five minutes
    verify_download_token("stock-report", token)                                    # None unless signed for this purpose

Nothing is stored. The same encrypted value always gives the same text, so a link can be built again at any time. A
viewer is the session, device or API key that asked for the link. The code that verifies a download token checks again
that they may still read the file.
"""

import binascii
import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from flask import current_app
from itsdangerous import BadSignature, SignatureExpired, TimestampSigner

from app.core.ids import is_id


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


def encrypt_token(purpose: str, plaintext: bytes) -> str:
    """Return the plaintext encrypted, as url-safe characters: a third more than it has bytes, plus 22."""
    return urlsafe_b64encode(AESSIV(derive(purpose)).encrypt(plaintext, [purpose.encode()])).rstrip(b"=").decode()


def decrypt_token(purpose: str, text: str) -> bytes | None:
    """Return the plaintext of a text from `encrypt_token` for this purpose; None for any other text."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        if urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
            return None
        return AESSIV(derive(purpose)).decrypt(raw, [purpose.encode()])
    except (UnicodeEncodeError, binascii.Error, ValueError, InvalidTag):
        return None


READABLE_SECONDS = 300


@dataclass(frozen=True)
class DownloadGrant:
    """The file and the viewer of a token, and whether it has expired."""

    thing_id: str
    viewer_id: str
    expired: bool


def sign_download_token(purpose: str, thing_id: str, viewer_id: str) -> tuple[str, int]:
    """Return a token for this file and viewer, and when it expires (seconds since 1970)."""
    expires = int(time.time()) + READABLE_SECONDS
    return timed_signer(purpose).sign(f"{thing_id}.{viewer_id}").decode(), expires


def verify_download_token(purpose: str, token: str) -> DownloadGrant | None:
    """Return what the token permits; None when we did not sign it for this purpose."""
    expired = False
    try:
        payload = timed_signer(purpose).unsign(token, max_age=READABLE_SECONDS)
    except SignatureExpired as error:
        expired, payload = True, error.payload or b""
    except BadSignature:
        return None
    thing_id, _, viewer_id = payload.decode("ascii", "replace").partition(".")
    return DownloadGrant(thing_id, viewer_id, expired) if is_id(thing_id) and is_id(viewer_id) else None
