"""Apple and Google as this installation knows them."""

from flask import current_app

from app.accounts.errors import IdentityRejected, ProviderNotConfigured, ProviderUnavailable
from app.clients import identity
from app.clients.identity import Identity, IdentityVerifier, Provider
from app.config import Settings
from app.core.errors import ValidationFailed

NONCE_MISSING = "The provider's token carries a nonce. Send the nonce that you asked the token with."


def verified(provider: str, token: str, *, nonce: str | None) -> Identity:
    """The person in the provider's token.

    Raises IdentityRejected, ProviderNotConfigured, ProviderUnavailable, and ValidationFailed when the token carries a
    nonce and none was sent along.
    """
    verifier = _verifiers()[provider]
    if not verifier.provider.configured:
        raise ProviderNotConfigured(retry_after=3600)
    try:
        return verifier.verify(token, nonce=nonce)
    except identity.IdentityRejected as error:
        if error.reason == "nonce_missing":
            raise ValidationFailed.of("nonce", "required", NONCE_MISSING) from error
        raise IdentityRejected(reason=error.reason) from error
    except identity.KeysUnavailable as error:
        raise ProviderUnavailable(retry_after=30) from error


def _verifiers() -> dict[str, IdentityVerifier]:
    extensions = current_app.extensions
    if "identity_verifiers" not in extensions:
        made = {item.name: IdentityVerifier(item) for item in _configured(extensions["settings"])}
        extensions.setdefault("identity_verifiers", made)
    found: dict[str, IdentityVerifier] = extensions["identity_verifiers"]
    return found


def _configured(settings: Settings) -> tuple[Provider, Provider]:
    return (
        Provider("apple", tuple(settings.APPLE_ISSUER), tuple(settings.APPLE_CLIENT_IDS), settings.APPLE_JWKS_URL),
        Provider("google", tuple(settings.GOOGLE_ISSUER), tuple(settings.GOOGLE_CLIENT_IDS), settings.GOOGLE_JWKS_URL),
    )
