"""Signatures of what goes to the rail and of what comes from it. docs/payrail.md has a worked example of each.

Both are HMAC-SHA256 under the shared secret. The text of a request begins with a word and that of a callback with
digits, so that neither can stand for the other.
"""

import hashlib
import hmac

REQUEST = "payrail-request-v1"
KEY, TIMESTAMP, NONCE, SIGNATURE = "Payrail-Key", "Payrail-Timestamp", "Payrail-Nonce", "Payrail-Signature"
WINDOW = 300
"""Seconds that the clocks of both sides may differ by."""


def request_signature(secret: str, *, key: str, timestamp: str, nonce: str, method: str, path: str, body: bytes) -> str:
    """Over key id, timestamp, nonce, method, path (with its query) and the body's SHA-256, one a line."""
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join((REQUEST, key, timestamp, nonce, method, path, digest))
    return hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()


def callback_signature(secret: str, *, timestamp: str, body: bytes) -> str:
    """Over the timestamp, a full stop and the raw body."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256").hexdigest()


def same(left: str, right: str) -> bool:
    """Whether two signatures are one, in a time that says nothing."""
    return hmac.compare_digest(left.encode("utf-8", "replace"), right.encode("utf-8", "replace"))


def fresh(timestamp: str, now: float) -> bool:
    """Whether a timestamp (whole seconds since 1970) is within the window."""
    return timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and abs(now - int(timestamp)) <= WINDOW
