"""Registers customers, merchants, organisers and admins, and verifies their e-mail addresses by a mailed code.

The bootstrap secret creates the first admin; admins create the others.
"""

from collections.abc import Mapping
from datetime import timedelta

from flask import current_app
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts import authentication, one_time_codes, sessions
from app.accounts.account_lifecycle import (
    Applicant,
    add_role,
    create_or_replace_account,
    is_replaceable,
    lock_own_account,
)
from app.accounts.actions.external_login import unlink_all_identities
from app.accounts.authentication import verify_own_password
from app.accounts.caller import Caller
from app.accounts.errors import AddressReserved, BootstrapRefused, CodeInvalid, CurrentPasswordWrong, TierTooHigh
from app.accounts.models import TIERS, Account
from app.accounts.queries import lock_account_by_email
from app.accounts.sessions import UNKNOWN_ORIGIN, LoginResult, SessionOrigin
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.errors import Throttled
from app.core.throttle import Rule
from app.core.tokens import same
from app.core.transaction import lock_name, transaction

WRONG_SECRET_LIMIT = Rule("bootstrap", 5, timedelta(hours=1))
LOWEST_CREATOR_TIER = "admin"


def register_customer(
    *,
    caller: Caller | None,
    email: str,
    password: str,
    first_name: str,
    last_name: str,
    phone: str | None = None,
    language: str | None = None,
) -> str | None:
    """Creates a customer's account, or adds the role to the caller's account. Returns the id of a new account.

    `language` is that of the visitor of a page.
    """
    return _register(
        "customer", caller, email, password, name=f"{first_name} {last_name}", phone=phone, language=language
    )


def register_merchant(
    *,
    caller: Caller | None,
    email: str,
    password: str,
    name: str,
    business_name: str,
    stall_name: str | None = None,
    phone: str | None = None,
    language: str | None = None,
) -> str | None:
    """Creates a merchant's account, or adds the role to the caller's account. Returns the id of a new account.

    `language` is that of the visitor of a page.
    """
    profile = {"business_name": business_name, "stall_name": stall_name}
    return _register("merchant", caller, email, password, name=name, phone=phone, language=language, profile=profile)


def register_organiser(
    *,
    caller: Caller | None,
    email: str,
    password: str,
    name: str,
    org_name: str,
    phone: str | None = None,
    language: str | None = None,
) -> str | None:
    """Creates an organiser's account, or adds the role to the caller's account. Returns the id of a new account.

    `language` is that of the visitor of a page.
    """
    profile = {"org_name": org_name}
    return _register("organiser", caller, email, password, name=name, phone=phone, language=language, profile=profile)


def _register(
    role: str,
    caller: Caller | None,
    email: str,
    password: str,
    *,
    name: str,
    phone: str | None,
    language: str | None,
    profile: Mapping[str, str | None] | None = None,
) -> str | None:
    production = current_app.extensions["settings"].production
    authentication.reject_common_password(password, email, name, production=production)
    applicant = Applicant(
        role=role,
        email=email,
        name=name,
        password_hash=authentication.hash_password(password),
        phone=phone,
        language=language,
        profile=profile or {},
    )
    if caller is not None and caller.email == email:
        _add_own_role(caller, applicant, password)
        return None
    with transaction() as session:
        account = create_or_replace_account(session, applicant)
        return None if account is None else account.id


def _add_own_role(caller: Caller, applicant: Applicant, password: str) -> None:
    """Adds the role to the caller's account. Raises CurrentPasswordWrong, Throttled."""
    if not verify_own_password(caller, password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        add_role(session, lock_own_account(session, caller), applicant)


def register_admin(
    *,
    caller: Caller | None,
    network: str,
    email: str,
    password: str,
    name: str,
    title: str | None = None,
    bootstrap_secret: str | None = None,
    assigned_tier: str | None = None,
) -> None:
    """Creates an admin's account.

    With the bootstrap secret, while there is no admin, it is a super_admin; of concurrent requests one succeeds.
    Otherwise the caller must be an admin, and the tier is at most theirs. Raises BootstrapRefused, TierTooHigh.
    """
    production = current_app.extensions["settings"].production
    authentication.reject_common_password(password, email, name, production=production)
    has_bootstrap_secret = bootstrap_secret is not None and _is_bootstrap_secret(bootstrap_secret, network)
    tier = "super_admin" if has_bootstrap_secret and not _is_admin(caller) else _get_granted_tier(caller, assigned_tier)
    applicant = Applicant(
        role="admin",
        email=email,
        name=name,
        tier=tier,
        title=title,
        password_hash=authentication.hash_password(password),
    )
    is_own_address = caller is not None and caller.email == email
    if caller is not None and is_own_address and not verify_own_password(caller, password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        if has_bootstrap_secret and not _is_admin(caller):
            _lock_first_admin(session)
        if caller is not None and is_own_address:
            add_role(session, lock_own_account(session, caller), applicant)
        else:
            create_or_replace_account(session, applicant)


def create_admin(*, email: str, password: str, name: str, tier: str) -> str:
    """Creates an admin from the command line and returns the account's id.

    A verified account gets the role. An unverified one is replaced, because anybody may have registered it. Raises
    AddressReserved.
    """
    applicant = Applicant(
        role="admin", email=email, name=name, tier=tier, password_hash=authentication.hash_password(password)
    )
    with transaction() as session:
        account = lock_account_by_email(session, email)
        if account is not None and not is_replaceable(account):
            add_role(session, account, applicant)
            return account.id
        account = create_or_replace_account(session, applicant)
        if account is None:
            raise AddressReserved()
        return account.id


def _lock_first_admin(session: OrmSession) -> None:
    lock_name(session, "first-admin")
    if session.scalar(select(Account.id).where(Account.admin_tier.is_not(None)).limit(1)):
        raise BootstrapRefused()


def _is_admin(caller: Caller | None) -> bool:
    return caller is not None and caller.tier is not None


def _get_granted_tier(caller: Caller | None, tier: str | None) -> str:
    if caller is None or caller.tier is None or TIERS.index(caller.tier) < TIERS.index(LOWEST_CREATOR_TIER):
        raise BootstrapRefused()
    if tier is not None and TIERS.index(tier) > TIERS.index(caller.tier):
        raise TierTooHigh()
    return tier or TIERS[0]


def _is_bootstrap_secret(submitted_secret: str, network: str) -> bool:
    secret = current_app.extensions["settings"].BOOTSTRAP_SECRET
    for limit_status in throttle.get_status(*throttle.by_network(WRONG_SECRET_LIMIT, network)):
        if limit_status.spent:
            raise Throttled(retry_after=limit_status.seconds)
    if secret and same(submitted_secret, secret):
        return True
    with transaction() as session:
        throttle.hit_all(session, *throttle.by_network(WRONG_SECRET_LIMIT, network))
    return False


def resend_verification(*, email: str) -> None:
    """Mails a new code if the address has an unverified account. The response is always the same. Raises Throttled."""
    with transaction() as session:
        one_time_codes.issue_code(session, one_time_codes.VERIFY_EMAIL, email)


def verify_email(
    *, email: str, code: str, registered_id: str | None = None, origin: SessionOrigin = UNKNOWN_ORIGIN
) -> LoginResult | None:
    """Marks the address as verified. Raises CodeInvalid; the attempt counts.

    `registered_id` is the account that the visitor has registered. If the address is now verified for the first time, the
    account is still theirs, and nothing else is needed to sign in, returns a session.
    """
    login_result = None
    with transaction() as session:
        account = None
        if one_time_codes.redeem_code(session, one_time_codes.VERIFY_EMAIL, email, code):
            account, is_new = _mark_email_verified(session, email)
            # Somebody else may have registered the address since, with a password that only they know.
            if account is not None and is_new and account.id == registered_id and _needs_only_password(account):
                login_result = sessions.create_session(session, account, origin)
    if account is None:
        raise CodeInvalid()
    return login_result


def _needs_only_password(account: Account) -> bool:
    return account.second_factor_since is None and account.suspended_at is None


def _mark_email_verified(session: OrmSession, email: str) -> tuple[Account | None, bool]:
    """Marks the account with this address as verified. Returns it, and whether it was not verified before.

    Identities that were linked before are unlinked, because their owner is unknown; only earlier releases linked them.
    """
    statement = update(Account).where(Account.email == email, Account.email_verified_at.is_(None))
    values = {"email_verified_at": func.now(), "version": Account.version + 1}
    account_id = session.scalar(statement.values(**values).returning(Account.id))
    if account_id is None:
        return session.scalar(select(Account).where(Account.email == email)), False
    unlink_all_identities(session, account_id)
    record(session, Action.EMAIL_VERIFIED, account_id=account_id, subject=account_id)
    return session.get_one(Account, account_id), True
