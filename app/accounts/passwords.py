"""Hashes and verifies passwords: argon2id with OWASP's parameters, one hash at a time per process.

One at a time limits memory, and a thread of low priority leaves the processor to other requests: public reads keep
their rate while many people sign in (figures in docs/decisions/password-hashing.md).
"""

from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from app.core.errors import ValidationFailed
from app.core.low_priority_executor import LowPriorityExecutor

HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_hash_executor = LowPriorityExecutor()


def hash_password(password: str) -> str:
    """The argon2id hash of the password."""
    return _hash_executor.run(HASHER.hash, password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password matches the hash. Without a hash it takes the same time and is False."""
    try:
        return _hash_executor.run(_verify_hash, password_hash, password) and password_hash is not None
    except (Argon2Error, InvalidHashError):
        return False


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash has other parameters than the current ones."""
    return HASHER.check_needs_rehash(password_hash)


def reject_common_password(password: str, *account_words: str, production: bool, path: str = "password") -> None:
    """Raises ValidationFailed, in production, for the 3,000 most common passwords and for the account's own words."""
    folded_password = password.casefold()
    if production and (
        folded_password in _load_common_passwords() or folded_password in {word.casefold() for word in account_words}
    ):
        message = "This password is among the most common ones, or your own address or name."
        raise ValidationFailed.of(path, "too_common", message)


def _verify_hash(password_hash: str | None, password: str) -> bool:
    return HASHER.verify(password_hash or _get_dummy_hash(), password)


@cache
def _get_dummy_hash() -> str:
    return HASHER.hash("nobody's password")


@cache
def _load_common_passwords() -> frozenset[str]:
    lines = Path(__file__).with_name("common_passwords.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
