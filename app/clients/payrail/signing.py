"""Signatures of requests to the rail and of its callbacks. docs/payrail.md has an example of each.

Both are HMAC-SHA256 with the shared secret. The signed text of a request begins with a word and that of a callback with
digits, so that neither is valid as the other.
"""

import hashlib
import hmac

REQUEST_PREFIX = "payrail-request-v1"
KEY, TIMESTAMP, NONCE, SIGNATURE = "Payrail-Key", "Payrail-Timestamp", "Payrail-Nonce", "Payrail-Signature"
WINDOW = 300
"""The difference in seconds that the clocks of both sides may have."""


def request_signature(secret: str, *, key: str, timestamp: str, nonce: str, method: str, path: str, body: bytes) -> str:
    """The signature over key id, timestamp, nonce, method, path with query, and the body's SHA-256, one per line."""
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join((REQUEST_PREFIX, key, timestamp, nonce, method, path, digest))
    return hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()


def callback_signature(secret: str, *, timestamp: str, body: bytes) -> str:
    """The signature over the timestamp, a full stop and the raw body."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256").hexdigest()


def signatures_match(left: str, right: str) -> bool:
    """Whether two signatures are equal, compared in constant time."""
    return hmac.compare_digest(left.encode("utf-8", "replace"), right.encode("utf-8", "replace"))


def is_fresh(timestamp: str, now: float) -> bool:
    """Whether a timestamp (whole seconds since 1970) is within the window."""
    return timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and abs(now - int(timestamp)) <= WINDOW
