"""Small facts that travel inside a link and that only we can read: AES-SIV under a key that follows from SECRET_KEY.

Unlike `derive`, which proves, this hides: an e-mail address in a link must not be legible to anyone who sees the link.
The same fact always gives the same text, so a link can be made anew at any time and nothing is stored for it.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from app.core.tokens import derive


def encrypt_token(purpose: str, fact: bytes) -> str:
    """The fact as url-safe characters, about a third more than it has bytes, and 22."""
    return urlsafe_b64encode(AESSIV(derive(purpose)).encrypt(fact, [purpose.encode()])).rstrip(b"=").decode()


def decrypt_token(purpose: str, text: str) -> bytes | None:
    """The fact in a text that `sealed` gave for this purpose; None for any other text."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        if urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
            return None
        return AESSIV(derive(purpose)).decrypt(raw, [purpose.encode()])
    except (UnicodeEncodeError, binascii.Error, ValueError, InvalidTag):
        return None
