"""Verification of Apple and Google id tokens.

The signature is checked with the provider's published keys before any claim is read. A process has one
`IdentityVerifier` per provider, which caches the keys.
"""

from app.clients.identity.errors import IdentityRejected, KeysUnavailable
from app.clients.identity.keys import KeyCache
from app.clients.identity.verifier import Identity, IdentityVerifier, Provider

__all__ = ["Identity", "IdentityRejected", "IdentityVerifier", "KeyCache", "KeysUnavailable", "Provider"]
