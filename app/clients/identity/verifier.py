"""Verification of an id token, in this order: shape, algorithm, key, signature, claims."""

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import jwt

from app.clients.identity import claims as said
from app.clients.identity.download import ALGORITHMS
from app.clients.identity.errors import IdentityRejected
from app.clients.identity.keys import KeyCache

LONGEST_TOKEN = 16_384
_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
_JWS = jwt.PyJWS()


@dataclass(frozen=True)
class Provider:
    """The settings of a provider. Without audiences (our client ids there) it is disabled."""

    name: str
    issuers: tuple[str, ...]
    audiences: tuple[str, ...]
    jwks_url: str

    @property
    def configured(self) -> bool:
        return bool(self.audiences)


@dataclass(frozen=True)
class Identity:
    """The identity in a token, identified by `provider` and `subject`. Trust the address only if `email_verified`.

    Store `token_hash` until `expires_at`, so that the token is used once.
    """

    provider: str
    subject: str
    email: str | None
    email_verified: bool
    name: str | None
    token_hash: str
    expires_at: datetime


class IdentityVerifier:
    """Checks id tokens of one provider. Safe to share between threads."""

    def __init__(
        self, provider: Provider, keys: KeyCache | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.provider = provider
        self._keys = keys or KeyCache(provider.jwks_url, clock=clock)
        self._clock = clock

    def verify(self, token: str, *, nonce: str | None = None) -> Identity:
        """The identity in `token`; raises IdentityRejected or KeysUnavailable and nothing else.

        Claims and their order: OpenID Connect Core 3.1.3.7. A `nonce` in the token must be given.
        """
        algorithm, kid = _header(token)
        key = self._keys.find(kid)
        if key.algorithm_name != algorithm:
            raise IdentityRejected("algorithm")
        claims = _signed_claims(token, key)
        said.check_origin(claims, issuers=self.provider.issuers, audiences=self.provider.audiences)
        expires = said.check_times(claims, now=self._clock())
        subject = said.subject(claims)
        said.check_nonce(claims, nonce)
        email = said.email(claims)
        return Identity(
            provider=self.provider.name,
            subject=subject,
            email=email,
            email_verified=email is not None and said.email_verified(claims),
            name=said.name(claims),
            token_hash=_hash(token, algorithm),
            expires_at=datetime.fromtimestamp(expires, UTC),
        )


def _header(token: str) -> tuple[str, str]:
    """Algorithm and key id. Keys that a token brings along (`jwk`, `jku`, `x5u`) are ignored."""
    if len(token) > LONGEST_TOKEN or not _SHAPE.fullmatch(token):
        raise IdentityRejected("malformed")
    try:
        header = _JWS.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise IdentityRejected("malformed") from error
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in list(ALGORITHMS.values()):
        raise IdentityRejected("algorithm")
    if "crit" in header or not isinstance(kid, str) or not kid:
        raise IdentityRejected("malformed")
    return algorithm, kid


def _signed_claims(token: str, key: jwt.PyJWK) -> said.Claims:
    try:
        payload = _JWS.decode(token, key)
    except jwt.PyJWTError as error:
        raise IdentityRejected("signature") from error
    try:
        claims = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise IdentityRejected("malformed") from error
    if not isinstance(claims, dict):
        raise IdentityRejected("malformed")
    return claims


def _hash(token: str, algorithm: str) -> str:
    """SHA-256 of the token: as raw text for RS256, without its signature for ES256.

    Anyone can turn a good ECDSA signature (r, s) into another one (r, n - s). With the signature in it, the
    hash of a token that was used would not stop its twin.
    """
    signed_part = token.rpartition(".")[0]
    return hashlib.sha256((signed_part if algorithm == "ES256" else token).encode()).hexdigest()
