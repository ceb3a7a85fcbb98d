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
from app.applications.links import Opened
from app.applications.models import Application
from app.core.db import db, release
from app.core.errors import ValidationFailed
from app.core.outbox import Work
from app.core.session import ReadOrWriteSession

Known = aliased(Account)
NOT_HIS = "This is not the password of the account that has this address. Enter that one, or reset it first."


@dataclass(frozen=True)
class Owner:
    """Whom the activation makes a merchant: an account that is there, or somebody new."""

    applicant: Applicant
    existing: Account | None
    proven: bool


def opened_with_account(token: str) -> tuple[Opened, Account | None]:
    """What stands behind a living activation link, and the applicant's account if there is one, in one query.

    Raises NotFound, LinkExpired, LinkUsed.
    """
    named = Application.account_id.is_(None) & (Known.email == Application.email)
    statement = links.asked(token, links.ACTIVATION).add_columns(Known)
    row = db.session.execute(statement.outerjoin(Known, (Known.id == Application.account_id) | named)).first()
    found = links.living(links.found(row))
    return found, row[-1] if row else None


def owner_of(found: Opened, known: Account | None, *, name: str, password: str, email: str | None) -> Owner:
    """The owner, who knows the password of the account if there is one. Nothing is written yet.

    With and without an account the same is checked, and the same time is spent on the password. An unverified account
    with another password gives way: anybody may have registered the address. Raises CurrentPasswordWrong, Throttled,
    and ValidationFailed without any address or for too common a password.
    """
    address = known.email if known else found.application.email or email
    if address is None:
        raise ValidationFailed.of("email", "required", "The application names no address; give yours.")
    existing = known or (None if found.application.email else find_account_by_email(address))
    passwords.reject_common_password(password, address, name, production=current_app.extensions["settings"].production)
    if existing is not None and _opens(existing, password):
        return Owner(_applicant(found, existing.email, existing.name, ""), existing, proven=False)
    check_login_limits(address, None)
    release()
    # Only who got the link by mail, and by nobody's hand, has shown that the mailbox is his.
    proven = address == found.application.email and not found.link.shown
    return Owner(_applicant(found, address, name, passwords.hash_password(password)), None, proven)


def _opens(existing: Account, password: str) -> bool:
    """Whether the password is that of the account; False lets a new one take its place.

    Raises CurrentPasswordWrong, which counts like a failed sign-in, and Throttled.
    """
    if is_replaceable(existing):
        release()
        return passwords.verify_password(existing.password_hash, password)
    release()
    if not verify_account_password(existing, password):
        raise CurrentPasswordWrong(NOT_HIS)
    return True


def account_of(session: ReadOrWriteSession, owner: Owner) -> Account | None:
    """The owner's account, with the role of a merchant; None when somebody took the address meanwhile, or the password
    is no longer that of the account. An unverified account that has the address is retired."""
    if owner.existing is not None:
        return add_role_if_unchanged(session, owner.existing, owner.applicant)
    account = create_account(session, owner.applicant, verified=owner.proven)
    if account is not None:
        return account
    holder = lock_account_by_email(session, owner.applicant.email)
    if holder is None or not is_replaceable(holder):
        return None
    retire_account(session, holder)
    return insert_account(session, owner.applicant, verified=owner.proven)


def news_of(owner: Owner, account: Account) -> list[Work]:
    """What the owner of the account is told: the code for an address that nobody has proven, or his new role."""
    if owner.existing is None:
        return [] if owner.proven else [one_time_codes.build_renewal_job(one_time_codes.VERIFY_EMAIL, account.email)]
    role = owner.applicant.role
    if role in owner.existing.roles:
        return []
    return [build_notice_job("role_added", account.id, role=role)]


def _applicant(found: Opened, email: str, name: str, password_hash: str) -> Applicant:
    business = found.application.business_name or name
    return Applicant(
        role="merchant",
        email=email,
        name=name,
        password_hash=password_hash,
        phone=found.application.phone,
        profile={"business_name": business, "stall_name": None},
    )
