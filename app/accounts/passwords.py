"""Passwords: argon2id with OWASP's parameters, one hash at a time per process.

One at a time keeps memory flat, and a thread that is served last leaves the processor to others: in a flood of
sign-ins public reads keep their rate (docs/decisions/password-hashing.md has the figures).
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
    """An argon2id hash of exactly this password."""
    return _hash_executor.run(HASHER.hash, password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password is the one; it takes the same time when there is no hash to compare with."""
    try:
        return _hash_executor.run(_verify_hash, password_hash, password) and password_hash is not None
    except (Argon2Error, InvalidHashError):
        return False


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return HASHER.check_needs_rehash(password_hash)


def reject_common_password(password: str, *account_words: str, production: bool, path: str = "password") -> None:
    """Raises ValidationFailed for the 3,000 most common passwords and for the account's own words."""
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
