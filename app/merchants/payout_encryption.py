"""Payout details at rest: AES-256-GCM under a key that follows from SECRET_KEY, bound to their account."""

import secrets
from typing import Any

import orjson
import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.tokens import derive

NONCE_LENGTH = 12
logger = structlog.get_logger(__name__)


def encrypt_payout_details(account_id: str, details: dict[str, Any]) -> bytes:
    """What the database keeps; copied to another account's row it opens no more."""
    nonce = secrets.token_bytes(NONCE_LENGTH)
    return nonce + _build_cipher().encrypt(nonce, orjson.dumps(details), account_id.encode())


def decrypt_payout_details(account_id: str, encrypted_details: bytes | None) -> dict[str, Any]:
    """The details; empty when there are none, or when they were sealed for another account or an earlier key.

    Those are lost: their owner gives them again, and until then no payout finds a destination.
    """
    if encrypted_details is None:
        return {}
    nonce, ciphertext = encrypted_details[:NONCE_LENGTH], encrypted_details[NONCE_LENGTH:]
    try:
        details: dict[str, Any] = orjson.loads(_build_cipher().decrypt(nonce, ciphertext, account_id.encode()))
    except InvalidTag:
        logger.error("payout_details_unreadable", account_id=account_id)
        return {}
    return details


def _build_cipher() -> AESGCM:
    return AESGCM(derive("payout-details"))
