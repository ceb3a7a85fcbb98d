"""Encrypted values for links, such as an email address that nobody but the service may read (AES-SIV).

The same value always gives the same text, so a link can be built again at any time and nothing is stored for it.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from app.core.tokens import derive


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
