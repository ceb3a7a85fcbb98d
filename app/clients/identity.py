"""Id tokens of Apple and Google: verified by PyJWT with the provider's published keys."""

import hashlib
import hmac
import http.client
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn

import jwt
import structlog

from app.core.text_normalization import JOINERS, clean_name

ALGORITHMS = ["RS256", "ES256"]
LEEWAY_SECONDS = 30
MAX_AGE_SECONDS = 600
KEY_LIFESPAN_SECONDS = 3600
KEY_TIMEOUT_SECONDS = 3
UNKNOWN_KEY_PAUSE_SECONDS = 30
FAILURE_PAUSE_SECONDS = 10
REQUIRED_CLAIMS = ["iss", "aud", "exp", "iat", "sub"]
SUBJECT = re.compile(r"[!-~]{1,255}")
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")
log = structlog.get_logger(__name__)

Reason = Literal[
    "algorithm",
    "audience",
    "expired",
    "issuer",
    "malformed",
    "nonce",
    "nonce_missing",
    "not_yet_valid",
    "signature",
    "subject",
    "too_old",
    "unknown_key",
]
REASONS: dict[type[jwt.PyJWTError], Reason] = {
    jwt.InvalidSignatureError: "signature",
    jwt.InvalidAlgorithmError: "algorithm",
    jwt.InvalidIssuerError: "issuer",
    jwt.InvalidAudienceError: "audience",
    jwt.ExpiredSignatureError: "expired",
    jwt.ImmatureSignatureError: "not_yet_valid",
    jwt.exceptions.InvalidSubjectError: "subject",
}
MISSING_CLAIM: dict[str, Reason] = {"iss": "issuer", "aud": "audience", "sub": "subject"}


class IdentityRejected(Exception):
    """The token proves nothing, now and later. `reason` is for logs and tests."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class KeysUnavailable(Exception):
    """The provider's keys cannot be had; the same token may pass later."""


@dataclass(frozen=True)
class Provider:
    """A provider's settings. Without audiences (our client ids there) it is switched off."""

    name: str
    issuers: tuple[str, ...]
    audiences: tuple[str, ...]
    jwks_url: str

    @property
    def configured(self) -> bool:
        return bool(self.audiences)


@dataclass(frozen=True)
class Identity:
    """The person of a token, known by `provider` and `subject`.

    `token_hash` is remembered until `expires_at`, so that a token is used once.
    """

    provider: str
    subject: str
    email: str | None
    email_verified: bool
    name: str | None
    token_hash: str
    expires_at: datetime


class ProviderKeys(jwt.PyJWKClient):
    """The keys of a provider, fetched once an hour. During an outage the last ones stay in use.

    After a failed fetch none is tried for 10 seconds. An unknown key id fetches at most every 30 seconds.
    """

    def __init__(self, url: str) -> None:
        super().__init__(
            url,
            lifespan=KEY_LIFESPAN_SECONDS,
            timeout=KEY_TIMEOUT_SECONDS,
            cooldown_duration=UNKNOWN_KEY_PAUSE_SECONDS,
        )
        self._failed_at: float | None = None
        self._last_document: dict[str, Any] | None = None

    def fetch_data(self) -> dict[str, Any]:
        """The published key set, or the last one during an outage. Raises PyJWKClientConnectionError without one."""
        if self._failed_at is None or time.monotonic() - self._failed_at >= FAILURE_PAUSE_SECONDS:
            try:
                self._last_document = super().fetch_data()
                self._failed_at = None
            except (jwt.PyJWTError, OSError, ValueError, RecursionError, http.client.HTTPException) as error:
                self._failed_at = time.monotonic()
                log.warning("identity.keys_not_fetched", url=self.uri, error=repr(error))
        if self._last_document is None:
            raise jwt.PyJWKClientConnectionError(self.uri)
        return self._last_document

    def find_key(self, key_id: str) -> jwt.PyJWK:
        """The signing key. Raises IdentityRejected for an unknown one, KeysUnavailable during an outage."""
        try:
            return self.get_signing_key(key_id)
        except jwt.PyJWTError as error:
            if self._failed_at is not None:
                raise KeysUnavailable(self.uri) from error
            raise IdentityRejected("unknown_key") from error


class IdentityVerifier:
    """Checks id tokens of one provider. It lives as long as the process, because its keys do; threads share it."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._keys = ProviderKeys(provider.jwks_url)
        self._jwt = jwt.PyJWT({"enforce_minimum_key_length": True})

    def verify(self, token: str, *, nonce: str | None = None) -> Identity:
        """The identity in `token`. Raises IdentityRejected or KeysUnavailable and nothing else.

        Rules: OpenID Connect Core 3.1.3.7. A nonce in the token must be given.
        """
        try:
            claims = self._decode(token)
            expires_at = datetime.fromtimestamp(int(claims["exp"]), UTC)
        except jwt.PyJWTError as error:
            _reject(error)
        except (ValueError, TypeError, OverflowError, OSError, RecursionError) as error:
            raise IdentityRejected("malformed") from error
        _check_audience(claims["aud"], self.provider.audiences)
        if int(claims["iat"]) < time.time() - MAX_AGE_SECONDS:
            raise IdentityRejected("too_old")
        if not SUBJECT.fullmatch(claims["sub"]):
            raise IdentityRejected("subject")
        _check_nonce(claims.get("nonce"), nonce)
        email = _read_email(claims)
        return Identity(
            provider=self.provider.name,
            subject=claims["sub"],
            email=email,
            # Apple has sent this flag as a string.
            email_verified=email is not None and str(claims.get("email_verified")) in ("True", "true"),
            name=_read_name(claims),
            # Without the signature: anybody can turn a valid ECDSA signature into a second one.
            token_hash=hashlib.sha256(token.rpartition(".")[0].encode()).hexdigest(),
            expires_at=expires_at,
        )

    def _decode(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        key_id = header.get("kid")
        if header.get("alg") not in ALGORITHMS:
            raise IdentityRejected("algorithm")
        if not isinstance(key_id, str) or not key_id:
            raise IdentityRejected("malformed")
        key = self._keys.find_key(key_id)
        return self._jwt.decode(
            token,
            key,
            algorithms=[name for name in ALGORITHMS if name == key.algorithm_name],
            audience=self.provider.audiences,
            issuer=self.provider.issuers,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED_CLAIMS},
        )


def _reject(error: jwt.PyJWTError) -> NoReturn:
    if isinstance(error, jwt.MissingRequiredClaimError):
        raise IdentityRejected(MISSING_CLAIM.get(error.claim, "malformed")) from error
    reasons = [reason for kind, reason in REASONS.items() if isinstance(error, kind)]
    raise IdentityRejected(reasons[0] if reasons else "malformed") from error


def _check_audience(audience: str | list[str], ours: Collection[str]) -> None:
    """Refuses a token that is also meant for another client: that client could use it here."""
    if any(name not in ours for name in ([audience] if isinstance(audience, str) else audience)):
        raise IdentityRejected("audience")


def _check_nonce(nonce: object, expected: str | None) -> None:
    if nonce is None and expected is None:
        return
    if expected is None:
        raise IdentityRejected("nonce_missing")
    if not isinstance(nonce, str) or not hmac.compare_digest(_encode(nonce), _encode(expected)):
        raise IdentityRejected("nonce")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _read_email(claims: dict[str, object]) -> str | None:
    """The address in lower case; None when it is missing, malformed or too long to be stored."""
    email = claims.get("email")
    if not isinstance(email, str) or not email.isprintable() or not ADDRESS.fullmatch(email) or len(email) > 254:
        return None
    return email.lower()


def _read_name(claims: dict[str, object]) -> str | None:
    """The person's name without control and invisible characters. Apple never sends one."""
    name = claims.get("name")
    if not isinstance(name, str):
        return None
    letters = (letter if letter.isprintable() or letter in JOINERS else " " for letter in clean_name(name))
    return " ".join("".join(letters).split()) or None
