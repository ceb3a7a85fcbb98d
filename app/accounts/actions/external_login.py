"""Signs in by tokens of Apple or Google, and links and unlinks their identities."""

from flask import current_app
from sqlalchemy import delete, exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts import second_factor, sessions
from app.accounts.account_lifecycle import (
    Applicant,
    build_default_name,
    create_account,
    lock_own_account,
    replace_unverified_account,
)
from app.accounts.caller import Caller
from app.accounts.errors import (
    AddressReserved,
    EmailNotVerifiedByProvider,
    IdentityLinkedElsewhere,
    IdentityRejected,
    InvalidCredentials,
    LastSignInMethod,
    ProviderNotConfigured,
    ProviderUnavailable,
)
from app.accounts.models import Account, ExternalIdentity, SpentIdentityToken
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import lock_account_by_email
from app.accounts.sessions import UNKNOWN_ORIGIN, LoginResult, SessionOrigin
from app.audit.actions import Action
from app.audit.log import record
from app.clients.identity import Identity, IdentityVerifier, KeysUnavailable, Provider
from app.clients.identity import IdentityRejected as TokenRejected
from app.config import Settings
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import assert_no_transaction, transaction

CUSTOMER_ROLE = "customer"
NONCE_MISSING_MESSAGE = "The provider's token has a nonce. Send the nonce that you requested the token with."


def sign_in_with_provider(
    provider: str,
    *,
    caller: Caller | None,
    token: str,
    nonce: str | None = None,
    full_name: str | None = None,
    origin: SessionOrigin = UNKNOWN_ORIGIN,
) -> LoginResult:
    """A session of the identity's account: in this order, the account that it is linked to, the caller's account (whose
    address is verified), the account with the identity's verified address, or a new account. An unverified account with
    that address is retired.

    Raises IdentityRejected, IdentityLinkedElsewhere, EmailNotVerifiedByProvider, ProviderNotConfigured,
    ProviderUnavailable, AddressReserved, ValidationFailed, and SecondFactorRequired, with which the identity is linked
    already: a token of the caller alone gives no new session.
    """
    assert_no_transaction()
    identity = verify_identity_token(provider, token, nonce=nonce)
    with transaction() as session:
        _mark_token_used(session, identity)
        account = _find_linked_account(session, identity)
        if caller is not None and account is not None and account.id != caller.id:
            raise IdentityLinkedElsewhere()
        account = account or _link_identity(
            session, identity, _find_or_create_account(session, identity, caller, full_name)
        )
        login_result = second_factor.start_session(session, account, origin)
        # The account is locked now: a concurrent unlinking either waits and ends this session too, or is visible.
        _check_still_linked(session, identity, account)
    return second_factor.require_session(login_result)


def _mark_token_used(session: OrmSession, identity: Identity) -> None:
    statement = insert(SpentIdentityToken).values(token_hash=identity.token_hash, expires_at=identity.expires_at)
    if session.scalar(statement.on_conflict_do_nothing().returning(SpentIdentityToken.token_hash)) is None:
        raise IdentityRejected(reason="used")


def _find_linked_account(session: OrmSession, identity: Identity) -> Account | None:
    return session.scalar(
        select(Account)
        .join(ExternalIdentity, ExternalIdentity.account_id == Account.id)
        .where(ExternalIdentity.provider == identity.provider, ExternalIdentity.subject == identity.subject)
    )


def _check_still_linked(session: OrmSession, identity: Identity, account: Account) -> None:
    """Raises InvalidCredentials when the identity was unlinked since it was looked up."""
    key = (identity.provider, identity.subject)
    linked_identity = session.get(ExternalIdentity, key, populate_existing=True)
    if linked_identity is None or linked_identity.account_id != account.id:
        raise InvalidCredentials()


def _find_or_create_account(
    session: OrmSession, identity: Identity, caller: Caller | None, full_name: str | None
) -> Account:
    if caller is not None:
        return lock_own_account(session, caller, InvalidCredentials)
    if identity.email is None:
        raise ValidationFailed.of("", "email_missing", "The provider did not share an address; allow it and try again.")
    if not identity.email_verified:
        raise EmailNotVerifiedByProvider()
    existing_account = lock_account_by_email(session, identity.email)
    if existing_account is not None and existing_account.email_verified_at is not None:
        return existing_account
    name = (full_name or identity.name or build_default_name(identity.email))[:120]
    if existing_account is not None:
        roles = existing_account.roles if existing_account.admin_tier else [CUSTOMER_ROLE]
        return replace_unverified_account(session, existing_account, name=name, roles=roles)
    account = create_account(session, Applicant(role=CUSTOMER_ROLE, email=identity.email, name=name), verified=True)
    if account is None:
        raise AddressReserved()
    return account


def _link_identity(session: OrmSession, identity: Identity, account: Account) -> Account:
    statement = insert(ExternalIdentity).values(
        provider=identity.provider, subject=identity.subject, account_id=account.id
    )
    inserted_account_id = session.scalar(statement.on_conflict_do_nothing().returning(ExternalIdentity.account_id))
    if inserted_account_id is None:
        linked_account = _find_linked_account(session, identity)
        if linked_account is None or linked_account.id != account.id:
            raise IdentityLinkedElsewhere()
    data = {"provider": identity.provider}
    record(session, Action.IDENTITY_LINKED, account_id=account.id, subject=account.id, data=data)
    enqueue_notice("identity_linked", account.id, provider=identity.provider.title())
    return account


def unlink_identity(*, caller: Caller, provider: str) -> None:
    """Unlinks every identity of the provider from the caller's account and ends all other sessions.

    Raises NotFound, and LastSignInMethod when the account has no password and no other identity.
    """
    with transaction() as session:
        account = session.get_one(Account, caller.id, with_for_update=True)
        unlinked_subjects = session.scalars(
            delete(ExternalIdentity)
            .where(ExternalIdentity.account_id == account.id, ExternalIdentity.provider == provider)
            .returning(ExternalIdentity.subject)
        ).all()
        if not unlinked_subjects:
            raise NotFound()
        if account.password_hash is None and not _has_identity(session, account):
            raise LastSignInMethod()
        sessions.end_all_sessions(session, account.id, "identity_unlinked", except_session_id=caller.session_id)
        data = {"provider": provider}
        record(session, Action.IDENTITY_UNLINKED, account_id=account.id, subject=account.id, data=data)
        enqueue_notice("identity_unlinked", account.id, provider=provider.title())


def _has_identity(session: OrmSession, account: Account) -> bool:
    return bool(session.scalar(select(exists().where(ExternalIdentity.account_id == account.id))))


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
    except TokenRejected as error:
        if error.reason == "nonce_missing":
            raise ValidationFailed.of("nonce", "required", NONCE_MISSING_MESSAGE) from error
        raise IdentityRejected(reason=error.reason) from error
    except KeysUnavailable as error:
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
