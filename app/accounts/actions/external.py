"""Signing in, or linking, by an Apple or Google account."""

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts import sessions
from app.accounts.addresses import lock_holder
from app.accounts.caller import Caller
from app.accounts.errors import (
    EmailNotVerifiedByProvider,
    IdentityLinkedElsewhere,
    IdentityRejected,
    InvalidCredentials,
)
from app.accounts.models import Account, ExternalIdentity, SpentIdentityToken
from app.accounts.notices import enqueue_notice
from app.accounts.providers import verified
from app.accounts.registration import default_name, replace_unverified
from app.accounts.sessions import SignedIn
from app.clients.identity import Identity
from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.core.transaction import assert_no_transaction, transaction

CUSTOMER = "customer"


def sign_in_externally(
    provider: str, *, caller: Caller | None, token: str, nonce: str | None = None, full_name: str | None = None
) -> SignedIn:
    """A session of the account this identity signs in to: the one it is linked to, the caller's (whose address is
    verified), the one with its verified address, or a new one. An unverified account with the address is retired.

    Raises IdentityRejected, IdentityLinkedElsewhere, EmailNotVerifiedByProvider, ProviderNotConfigured,
    ProviderUnavailable, ValidationFailed.
    """
    assert_no_transaction()
    identity = verified(provider, token, nonce=nonce)
    with transaction() as session:
        _spend(session, identity)
        account = _linked(session, identity)
        if caller is not None and account is not None and account.id != caller.id:
            raise IdentityLinkedElsewhere()
        account = account or _link(session, identity, _account_for(session, identity, caller, full_name))
        signed_in = sessions.begin(session, account)
        # The account is locked now: unlinking waits, and ends this session too, or is over, and is seen.
        _check_linked(session, identity, account)
        return signed_in


def _spend(session: OrmSession, identity: Identity) -> None:
    spent = insert(SpentIdentityToken).values(token_hash=identity.token_hash, expires_at=identity.expires_at)
    if session.scalar(spent.on_conflict_do_nothing().returning(SpentIdentityToken.token_hash)) is None:
        raise IdentityRejected(reason="used")


def _linked(session: OrmSession, identity: Identity) -> Account | None:
    return session.scalar(
        select(Account)
        .join(ExternalIdentity, ExternalIdentity.account_id == Account.id)
        .where(ExternalIdentity.provider == identity.provider, ExternalIdentity.subject == identity.subject)
    )


def _check_linked(session: OrmSession, identity: Identity, account: Account) -> None:
    """Raises InvalidCredentials when the identity was unlinked since it was looked up."""
    key = (identity.provider, identity.subject)
    still = session.get(ExternalIdentity, key, populate_existing=True)
    if still is None or still.account_id != account.id:
        raise InvalidCredentials()


def _account_for(session: OrmSession, identity: Identity, caller: Caller | None, full_name: str | None) -> Account:
    if caller is not None:
        return _own_account(session, caller)
    if identity.email is None:
        raise ValidationFailed.of("", "email_missing", "The provider did not share an address; allow it and try again.")
    if not identity.email_verified:
        raise EmailNotVerifiedByProvider()
    holder = lock_holder(session, identity.email)
    if holder is not None and holder.email_verified_at is not None:
        return holder
    name = (full_name or identity.name or default_name(identity.email))[:120]
    if holder is not None:
        roles = holder.roles if holder.admin_tier else [CUSTOMER]
        return replace_unverified(session, holder, name=name, roles=roles)
    account = Account(id=new_id(), email=identity.email, name=name, roles=[CUSTOMER], email_verified_at=func.now())
    session.add(account)
    session.flush()
    return account


def _own_account(session: OrmSession, caller: Caller) -> Account:
    """The caller's account, locked. Raises InvalidCredentials when a reset or the like has ended the session meanwhile:
    who is signed out by it must not leave an identity behind."""
    account = session.get_one(Account, caller.id, with_for_update=True)
    if not sessions.is_living(session, caller.session_id):
        raise InvalidCredentials()
    return account


def _link(session: OrmSession, identity: Identity, account: Account) -> Account:
    linked = insert(ExternalIdentity).values(
        provider=identity.provider, subject=identity.subject, account_id=account.id
    )
    new = session.scalar(linked.on_conflict_do_nothing().returning(ExternalIdentity.account_id))
    if new is None:
        winner = _linked(session, identity)
        if winner is None or winner.id != account.id:
            raise IdentityLinkedElsewhere()
    enqueue_notice("identity_linked", account.id, provider=identity.provider.title())
    return account
