"""Errors of identity verification.

Exception
├── IdentityRejected    the token is invalid; `reason` is for logs and tests
└── KeysUnavailable     the provider's keys cannot be loaded; the same token may be valid later
"""

from typing import Literal

Reason = Literal[
    "malformed",
    "algorithm",
    "unknown_key",
    "signature",
    "issuer",
    "audience",
    "expired",
    "not_yet_valid",
    "too_old",
    "subject",
    "nonce",
    "nonce_missing",
]


class IdentityRejected(Exception):
    """The token is invalid."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class KeysUnavailable(Exception):
    """The key of the token is not cached and cannot be downloaded now."""
