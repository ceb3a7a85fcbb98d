"""The account that an activation opens: the applicant's own if there is one, else a new one."""

from dataclasses import dataclass

from flask import current_app
from sqlalchemy.orm import aliased

from app.accounts import one_time_codes, passwords
from app.accounts.account_creation import (
    Applicant,
    add_role_if_unchanged,
    create_account,
    insert_account,
    is_replaceable,
)
from app.accounts.authentication import check_login_limits, verify_account_password
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.notices import build_notice_job
from app.accounts.queries import find_account_by_email, lock_account_by_email
from app.accounts.retirement import retire_account
from app.applications import links
from app.applications.links import ResolvedLink
from app.applications.models import Application
from app.core.db import db, release_connection
from app.core.errors import ValidationFailed
from app.core.outbox import Work
from app.core.session import ReadOrWriteSession

KnownAccount = aliased(Account)
WRONG_PASSWORD_MESSAGE = (
    "This is not the password of the account that has this address. Enter that one, or reset it first."
)


@dataclass(frozen=True)
class Owner:
    """Whom the activation makes a merchant: an account that is there, or somebody new."""

    applicant: Applicant
    existing_account: Account | None
    is_email_proven: bool


def get_link_with_account(token: str) -> tuple[ResolvedLink, Account | None]:
    """What stands behind a living activation link, and the applicant's account if there is one, in one query.

    Raises NotFound, LinkExpired, LinkUsed.
    """
    has_same_email = Application.account_id.is_(None) & (KnownAccount.email == Application.email)
    statement = links.link_by_token_query(token, links.ACTIVATION).add_columns(KnownAccount)
    row = db.session.execute(
        statement.outerjoin(KnownAccount, (KnownAccount.id == Application.account_id) | has_same_email)
    ).first()
    resolved_link = links.require_active_link(links.build_resolved_link(row))
    return resolved_link, row[-1] if row else None


def build_owner(
    resolved_link: ResolvedLink, known_account: Account | None, *, name: str, password: str, email: str | None
) -> Owner:
    """The owner, who knows the password of the account if there is one. Nothing is written yet.

    With and without an account the same is checked, and the same time is spent on the password. An unverified account
    with another password gives way: anybody may have registered the address. Raises CurrentPasswordWrong, Throttled,
    and ValidationFailed without any address or for too common a password.
    """
    address = known_account.email if known_account else resolved_link.application.email or email
    if address is None:
        raise ValidationFailed.of("email", "required", "The application names no address; give yours.")
    existing_account = known_account or (None if resolved_link.application.email else find_account_by_email(address))
    passwords.reject_common_password(password, address, name, production=current_app.extensions["settings"].production)
    if existing_account is not None and _check_existing_password(existing_account, password):
        return Owner(
            _build_applicant(resolved_link, existing_account.email, existing_account.name, ""),
            existing_account,
            is_email_proven=False,
        )
    check_login_limits(address, None)
    release_connection()
    # Only who got the link by mail, and by nobody's hand, has shown that the mailbox is theirs.
    is_email_proven = address == resolved_link.application.email and not resolved_link.link.shown
    return Owner(
        _build_applicant(resolved_link, address, name, passwords.hash_password(password)), None, is_email_proven
    )


def _check_existing_password(existing_account: Account, password: str) -> bool:
    """Whether the password is that of the account; False lets a new one take its place.

    Raises CurrentPasswordWrong, which counts like a failed sign-in, and Throttled.
    """
    if is_replaceable(existing_account):
        release_connection()
        return passwords.verify_password(existing_account.password_hash, password)
    release_connection()
    if not verify_account_password(existing_account, password):
        raise CurrentPasswordWrong(WRONG_PASSWORD_MESSAGE)
    return True


def open_account(session: ReadOrWriteSession, owner: Owner) -> Account | None:
    """The owner's account, with the role of a merchant; None when somebody took the address meanwhile, or the password
    is no longer that of the account. An unverified account that has the address is retired."""
    if owner.existing_account is not None:
        return add_role_if_unchanged(session, owner.existing_account, owner.applicant)
    account = create_account(session, owner.applicant, verified=owner.is_email_proven)
    if account is not None:
        return account
    current_account = lock_account_by_email(session, owner.applicant.email)
    if current_account is None or not is_replaceable(current_account):
        return None
    retire_account(session, current_account)
    return insert_account(session, owner.applicant, verified=owner.is_email_proven)


def build_owner_notifications(owner: Owner, account: Account) -> list[Work]:
    """What the owner of the account is told: the code for an address that nobody has proven, or their new role."""
    if owner.existing_account is None:
        return (
            []
            if owner.is_email_proven
            else [one_time_codes.build_renewal_job(one_time_codes.VERIFY_EMAIL, account.email)]
        )
    role = owner.applicant.role
    if role in owner.existing_account.roles:
        return []
    return [build_notice_job("role_added", account.id, role=role)]


def _build_applicant(resolved_link: ResolvedLink, email: str, name: str, password_hash: str) -> Applicant:
    business_name = resolved_link.application.business_name or name
    return Applicant(
        role="merchant",
        email=email,
        name=name,
        password_hash=password_hash,
        phone=resolved_link.application.phone,
        profile={"business_name": business_name, "stall_name": None},
    )
