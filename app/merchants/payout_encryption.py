"""Encrypts payout details in the database: AES-256-GCM with a key that is derived from SECRET_KEY.

The id of the account is authenticated too, so the details are valid only in their own row.
"""

import secrets
from collections.abc import Mapping

import orjson
import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.tokens import derive

NONCE_LENGTH = 12
log = structlog.get_logger(__name__)


def encrypt_payout_details(account_id: str, details: Mapping[str, str]) -> bytes:
    """The encrypted details; in another account's row they cannot be decrypted."""
    nonce = secrets.token_bytes(NONCE_LENGTH)
    return nonce + _build_cipher().encrypt(nonce, orjson.dumps(dict(details)), account_id.encode())


def decrypt_payout_details(account_id: str, encrypted_details: bytes | None) -> dict[str, str]:
    """The details; empty when there are none, or when they belong to another account or an earlier SECRET_KEY.

    Such details are lost: payouts have no destination until the owner enters them again.
    """
    if encrypted_details is None:
        return {}
    nonce, ciphertext = encrypted_details[:NONCE_LENGTH], encrypted_details[NONCE_LENGTH:]
    try:
        details: dict[str, str] = orjson.loads(_build_cipher().decrypt(nonce, ciphertext, account_id.encode()))
    except InvalidTag:
        log.error("payout_details_unreadable", account_id=account_id)
        return {}
    return details


def _build_cipher() -> AESGCM:
    return AESGCM(derive("payout-details"))
