"""Payout details of a merchant: masked when read, merged when written, encrypted in the database.

AES-256-GCM, with a key that is derived from SECRET_KEY, authenticates the id of the account too; so the details are
valid only in their own row.
"""

import secrets
from collections.abc import Mapping

import orjson
import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.addresses import HIDDEN_DIGITS, mask_number
from app.core.errors import ValidationFailed
from app.core.tokens import derive

VISIBLE_DIGITS = {"account_number": 4, "msisdn": 3}
"""How many of the last characters of a masked field are shown."""
JSON_NAMES = {"account_number": "accountNumber"}
NONCE_LENGTH = 12
log = structlog.get_logger(__name__)


def mask_payout_details(details: Mapping[str, str]) -> dict[str, str]:
    """The details as their owner sees them, with only the last digits of numbers."""
    return {name: _mask_value(name, value) for name, value in details.items()}


def merge_payout_details(details: Mapping[str, str], changes: Mapping[str, str | None], *, path: str) -> dict[str, str]:
    """The details with these changes. None removes a field; a masked value that equals the saved one, with or without blanks, keeps it.

    Raises ValidationFailed for any other masked value, because it would destroy the number.
    """
    new_details = dict(details)
    for name, value in changes.items():
        if value is None:
            new_details.pop(name, None)
        elif not is_masked(value):
            new_details[name] = value
        elif name not in details or _mask_value(name, details[name]) not in (value, "".join(value.split())):
            raise ValidationFailed.of(
                f"{path}.{JSON_NAMES.get(name, name)}", "masked_value", "Send the whole number, or leave it out."
            )
    return new_details


def is_masked(value: object) -> bool:
    """Whether the value is a number that was masked when it was read."""
    return isinstance(value, str) and HIDDEN_DIGITS[0] in value


def _mask_value(name: str, value: str) -> str:
    visible_digits = VISIBLE_DIGITS.get(name)
    if visible_digits is None:
        return value
    return mask_number(value, visible_digits=visible_digits)


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
