"""Who an Apple or Google id token speaks of, or the reason why it is not believed.

Nothing is taken from a token before its signature by one of the provider's published keys has held. One
`IdentityVerifier` per provider lives as long as the process, because its keys do.
"""

from app.clients.identity.errors import IdentityRejected, KeysUnavailable
from app.clients.identity.keys import KeyCache
from app.clients.identity.verifier import Identity, IdentityVerifier, Provider

__all__ = ["Identity", "IdentityRejected", "IdentityVerifier", "KeyCache", "KeysUnavailable", "Provider"]
