"""Verifies tokens of Apple and Google, and unlinks their identities from accounts."""

from flask import current_app
from sqlalchemy import delete
from sqlalchemy.orm import Session as OrmSession

from app.accounts.errors import IdentityRejected, ProviderNotConfigured, ProviderUnavailable
from app.accounts.models import ExternalIdentity
from app.clients import identity
from app.clients.identity import Identity, IdentityVerifier, Provider
from app.config import Settings
from app.core.errors import ValidationFailed

NONCE_MISSING_MESSAGE = "The provider's token has a nonce. Send the nonce that you requested the token with."


def verify_identity_token(provider: str, token: str, *, nonce: str | None) -> Identity:
    """The identity in the provider's token.

    Raises IdentityRejected, ProviderNotConfigured, ProviderUnavailable, and ValidationFailed when the token has a
    nonce and the request has none.
    """
    verifier = _get_verifiers()[provider]
    if not verifier.provider.configured:
        raise ProviderNotConfigured(retry_after=3600)
    try:
        return verifier.verify(token, nonce=nonce)
    except identity.IdentityRejected as error:
        if error.reason == "nonce_missing":
            raise ValidationFailed.of("nonce", "required", NONCE_MISSING_MESSAGE) from error
        raise IdentityRejected(reason=error.reason) from error
    except identity.KeysUnavailable as error:
        raise ProviderUnavailable(retry_after=30) from error


def _get_verifiers() -> dict[str, IdentityVerifier]:
    extensions = current_app.extensions
    if "identity_verifiers" not in extensions:
        new_verifiers = {
            provider.name: IdentityVerifier(provider) for provider in _build_providers(extensions["settings"])
        }
        extensions.setdefault("identity_verifiers", new_verifiers)
    verifiers: dict[str, IdentityVerifier] = extensions["identity_verifiers"]
    return verifiers


def _build_providers(settings: Settings) -> tuple[Provider, Provider]:
    return (
        Provider("apple", tuple(settings.APPLE_ISSUER), tuple(settings.APPLE_CLIENT_IDS), settings.APPLE_JWKS_URL),
        Provider("google", tuple(settings.GOOGLE_ISSUER), tuple(settings.GOOGLE_CLIENT_IDS), settings.GOOGLE_JWKS_URL),
    )


def unlink_all_identities(session: OrmSession, account_id: str) -> bool:
    """Unlinks every identity of an account. Returns whether it had any."""
    statement = delete(ExternalIdentity).where(ExternalIdentity.account_id == account_id)
    return bool(session.scalars(statement.returning(ExternalIdentity.subject)).all())
