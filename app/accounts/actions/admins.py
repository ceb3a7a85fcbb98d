"""Making admins: the first by the bootstrap secret, the others by admins."""

from datetime import timedelta

from flask import current_app
from sqlalchemy import select, text
from sqlalchemy.orm import Session as OrmSession

from app.accounts import passwords
from app.accounts.addresses import lock_holder
from app.accounts.caller import Caller
from app.accounts.errors import BootstrapRefused, CurrentPasswordWrong, TierTooHigh
from app.accounts.models import TIERS, Account
from app.accounts.registration import Applicant, add_role, is_replaceable, lock_own_account, take_address
from app.accounts.throttling import check_own_password
from app.core import throttle
from app.core.errors import Throttled
from app.core.throttle import Rule
from app.core.tokens import same
from app.core.transaction import transaction

WRONG_SECRETS = Rule("bootstrap", 5, timedelta(hours=1))
MAY_CREATE = "admin"


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
    """Opens an admin's account. With the bootstrap secret and no admin yet: a super_admin, once, whoever races.
    Otherwise an admin's token is needed, and the tier is at most his. Raises BootstrapRefused, TierTooHigh."""
    production = current_app.extensions["settings"].production
    passwords.check_uncommon(password, email, name, production=production)
    first = bootstrap_secret is not None and _is_the_secret(bootstrap_secret, network)
    tier = "super_admin" if first and not _is_admin(caller) else _granted(caller, assigned_tier)
    applicant = Applicant(
        role="admin", email=email, name=name, tier=tier, title=title, password_hash=passwords.hashed(password)
    )
    own = caller is not None and caller.email == email
    if caller is not None and own and not check_own_password(caller, password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        if first and not _is_admin(caller):
            _claim_first_place(session)
        if caller is not None and own:
            add_role(session, lock_own_account(session, caller), applicant)
        else:
            take_address(session, applicant)


def create_admin(*, email: str, password: str, name: str, tier: str) -> str:
    """The id of an admin's account, made from the command line. An account whose owner has verified the address gets
    the role; one that nobody has verified is retired, since anybody may have registered it."""
    applicant = Applicant(role="admin", email=email, name=name, tier=tier, password_hash=passwords.hashed(password))
    with transaction() as session:
        account = lock_holder(session, email)
        if account is not None and not is_replaceable(account):
            add_role(session, account, applicant)
            return account.id
        account = take_address(session, applicant)
        assert account is not None
        return account.id


def _claim_first_place(session: OrmSession) -> None:
    session.execute(text("SELECT pg_advisory_xact_lock(hashtext('first-admin'))"))
    if session.scalar(select(Account.id).where(Account.admin_tier.is_not(None)).limit(1)):
        raise BootstrapRefused()


def _is_admin(caller: Caller | None) -> bool:
    return caller is not None and caller.tier is not None


def _granted(caller: Caller | None, tier: str | None) -> str:
    if caller is None or caller.tier is None or TIERS.index(caller.tier) < TIERS.index(MAY_CREATE):
        raise BootstrapRefused()
    if tier is not None and TIERS.index(tier) > TIERS.index(caller.tier):
        raise TierTooHigh()
    return tier or TIERS[0]


def _is_the_secret(given: str, network: str) -> bool:
    secret = current_app.extensions["settings"].BOOTSTRAP_SECRET
    spent = [item for item in throttle.standing(*throttle.by_network(WRONG_SECRETS, network)) if item.spent]
    if spent:
        raise Throttled(retry_after=spent[0].seconds)
    if secret and same(given, secret):
        return True
    with transaction() as session:
        throttle.hit_all(session, *throttle.by_network(WRONG_SECRETS, network))
    return False
