"""The two ways in which a token is not believed: it is wrong, or nobody can tell.

Exception
├── IdentityRejected    the token is wrong, and will be wrong again; `reason` is for logs and tests
└── KeysUnavailable     the provider's keys cannot be had; the same token may pass in a while
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
    """The token does not prove anything."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class KeysUnavailable(Exception):
    """No published key to check the token with, and the provider does not give us any now."""
