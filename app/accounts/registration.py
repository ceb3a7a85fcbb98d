"""What all registrations share: who may take an address, and what becomes of what stands there."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import case, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts import codes, sessions
from app.accounts.models import Account, MerchantProfile, OrganiserProfile
from app.core.ids import new_id
from app.core.outbox import enqueue

PROFILES: dict[str, type[OrganiserProfile] | type[MerchantProfile]] = {
    "organiser": OrganiserProfile,
    "merchant": MerchantProfile,
}


@dataclass(frozen=True, kw_only=True)
class Applicant:
    """Somebody who wants an account of one kind."""

    role: str
    email: str
    name: str
    password_hash: str
    phone: str | None = None
    tier: str | None = None
    title: str | None = None
    profile: dict[str, Any] = field(default_factory=dict)


def take_address(session: OrmSession, applicant: Applicant) -> Account | None:
    """The applicant's account, new or replaced, with a code on its way; None when the address is taken.

    A verified owner is told by mail and nothing changes. An address that nobody has verified belongs to whoever
    comes last, so that no one can park an account on it; an admin's is never replaced.
    """
    account = created(session, applicant)
    if account is None:
        account = session.scalars(select(Account).where(Account.email == applicant.email).with_for_update()).one()
        if account.email_verified_at is not None or account.admin_tier is not None:
            enqueue("accounts.mail_notice", template="already_registered", account_id=account.id)
            return None
        _replace(session, account, applicant)
    add_profile(session, account, applicant)
    codes.issue_soon(session, codes.VERIFY, applicant.email)
    return account


def add_role(session: OrmSession, account: Account, applicant: Applicant) -> None:
    """Gives an existing account one more role."""
    if applicant.role in account.roles:
        return
    account.roles = [*account.roles, applicant.role]
    account.phone = account.phone or applicant.phone
    if applicant.tier is not None:
        account.admin_tier, account.admin_title = applicant.tier, applicant.title
    account.version += 1
    add_profile(session, account, applicant)
    enqueue("accounts.mail_notice", template="role_added", account_id=account.id, role=applicant.role)


def opened_account(session: OrmSession, applicant: Applicant, *, verified: bool) -> Account | None:
    """The new account of a free address with its profile, in one statement; None when it is not free."""
    values = {**_details(applicant), "password_version": 1, "version": 1}
    statement = insert(Account).values(
        id=new_id(), email=applicant.email, email_verified_at=func.now() if verified else None, **values
    )
    made = statement.on_conflict_do_nothing(index_elements=["email"]).returning(Account).cte("made")
    model = PROFILES[applicant.role]
    columns = {"account_id": made.c.id, **{name: literal(value) for name, value in applicant.profile.items()}}
    profile = insert(model).from_select([*columns], select(*columns.values()), include_defaults=False)
    return session.scalar(select(aliased(Account, made)).add_cte(profile.cte("profile")))


def with_role(session: OrmSession, account_id: str, applicant: Applicant) -> Account:
    """The account, locked, with one more role and its profile unless it has them, in one statement."""
    has = Account.roles.contains([applicant.role])
    profile = insert(PROFILES[applicant.role]).values(account_id=account_id, **applicant.profile)
    statement = (
        update(Account)
        .where(Account.id == account_id)
        .values(
            roles=case((has, Account.roles), else_=func.array_append(Account.roles, applicant.role)),
            phone=case((has, Account.phone), else_=func.coalesce(Account.phone, applicant.phone)),
            version=Account.version + case((has, 0), else_=1),
        )
        .returning(Account)
        .add_cte(profile.on_conflict_do_nothing().cte("profile"))
    )
    return session.scalars(statement, execution_options={"populate_existing": True, "synchronize_session": False}).one()


def add_profile(session: OrmSession, account: Account, applicant: Applicant) -> None:
    model = PROFILES.get(applicant.role)
    if model is not None:
        session.add(model(account_id=account.id, **applicant.profile))
    session.flush()


def created(session: OrmSession, applicant: Applicant) -> Account | None:
    """The new account of a free address; None when it is not free."""
    statement = insert(Account).values(id=new_id(), email=applicant.email, **_details(applicant))
    return session.scalar(statement.on_conflict_do_nothing(index_elements=["email"]).returning(Account))


def _replace(session: OrmSession, account: Account, applicant: Applicant) -> None:
    for model in PROFILES.values():
        session.execute(delete(model).where(model.account_id == account.id))
    for name, value in _details(applicant).items():
        setattr(account, name, value)
    account.password_version += 1
    account.version += 1
    sessions.end_all(session, account.id, "registered_again")


def _details(applicant: Applicant) -> dict[str, Any]:
    return {
        "name": applicant.name,
        "password_hash": applicant.password_hash,
        "phone": applicant.phone,
        "roles": [applicant.role],
        "admin_tier": applicant.tier,
        "admin_title": applicant.title,
    }
