"""The account that an activation opens: the applicant's own if there is one, else a new one."""

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import func

from app.accounts import codes, passwords
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.queries import by_email, by_id
from app.accounts.registration import Applicant, add_profile, add_role, created
from app.accounts.throttling import check_own_password
from app.applications.links import Opened
from app.core.db import ReadOrWriteSession, release
from app.core.errors import ValidationFailed

NOT_HIS = "There is an account with this address, and this is not its password. Use that one, or reset it first."


@dataclass(frozen=True)
class Owner:
    """Whom the activation makes a merchant: an account that is there, or somebody new."""

    applicant: Applicant
    existing: Account | None
    proven: bool


def owner_of(found: Opened, *, name: str, password: str, email: str | None) -> Owner:
    """The owner, who knows the password of the account if there is one. Nothing is written yet.

    Raises CurrentPasswordWrong, Throttled, and ValidationFailed without any address or for too common a password.
    """
    application = found.application
    known = by_id(application.account_id) if application.account_id else None
    address = known.email if known else application.email or email
    if address is None:
        raise ValidationFailed.of("email", "required", "The application names no address; give yours.")
    existing = known or by_email(address)
    release()
    if existing is not None:
        if not check_own_password(existing.id, password):
            raise CurrentPasswordWrong(NOT_HIS)
        return Owner(_applicant(found, existing.email, existing.name, ""), existing, proven=False)
    passwords.check_uncommon(password, address, name, production=current_app.extensions["settings"].production)
    # Only who got the link by mail, and by nobody's hand, has shown that the mailbox is his.
    proven = address == application.email and not found.link.shown
    return Owner(_applicant(found, address, name, passwords.hashed(password)), None, proven)


def account_of(session: ReadOrWriteSession, owner: Owner) -> Account:
    """The owner's account, with the role of a merchant. Raises CurrentPasswordWrong when somebody was faster."""
    if owner.existing is not None:
        account = session.get_one(Account, owner.existing.id, with_for_update=True, populate_existing=True)
        add_role(session, account, owner.applicant)
        return account
    made = created(session, owner.applicant)
    if made is None:
        raise CurrentPasswordWrong(NOT_HIS)
    add_profile(session, made, owner.applicant)
    if owner.proven:
        made.email_verified_at = func.now()
    else:
        codes.issue_soon(session, codes.VERIFY, made.email)
    return made


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
