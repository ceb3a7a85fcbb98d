"""What all registrations share: who may take an address, and what becomes of what stands there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import case, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts import one_time_codes, sessions
from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import PROFILES, Account
from app.accounts.notices import enqueue_notice
from app.accounts.queries import lock_account_by_email, lock_address
from app.accounts.retirement import retire_account
from app.core.ids import new_id

# A reset token proves the mailbox, no matter who has registered the address since.
MOVE_RESET_TOKENS_SQL = text("""
    UPDATE reset_token SET account_id = :new, password_version = 1 WHERE account_id = :old AND used_at IS NULL
""")


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


def create_or_replace_account(session: OrmSession, applicant: Applicant) -> Account | None:
    """The applicant's new account, with a code on its way; None when the address is taken.

    A verified owner is told by mail and nothing changes. An account that nobody has verified is retired, so that no
    one can park it on somebody else's address; an admin's is never replaced. Free and taken addresses cost the same
    statements, count the same mails and get the same answer.
    """
    existing_account = lock_account_by_email(session, applicant.email)
    replaced_account = existing_account if existing_account is not None and is_replaceable(existing_account) else None
    retire_account(session, replaced_account)
    account = insert_account(session, applicant, verified=False)
    params = {"new": account.id if account else "", "old": replaced_account.id if replaced_account else ""}
    session.execute(MOVE_RESET_TOKENS_SQL, params)
    one_time_codes.issue_code_when_allowed(session, one_time_codes.VERIFY_EMAIL, applicant.email, registration=True)
    return account


def is_replaceable(account: Account) -> bool:
    """Whether a registration retires this account: nobody has verified it, and it is no admin's."""
    return account.email_verified_at is None and account.admin_tier is None


def replace_unverified_account(
    session: OrmSession, account: Account, *, name: str, roles: Sequence[str], password_hash: str | None = None
) -> Account:
    """A new, verified account with the address and these roles; the old one is retired.

    For a person who has proven the mailbox. Of the old account only an admin's tier and title go over.
    """
    email, tier, title = account.email, account.admin_tier, account.admin_title
    retire_account(session, account)
    new_account = Account(
        id=new_id(),
        email=email,
        name=name,
        roles=list(roles),
        admin_tier=tier,
        admin_title=title,
        password_hash=password_hash,
        email_verified_at=func.now(),
    )
    session.add(new_account)
    session.flush()
    return new_account


def build_default_name(email: str) -> str:
    """What an account is called whose owner has given no name yet."""
    return email.partition("@")[0][:120]


def lock_own_account(session: OrmSession, caller: Caller) -> Account:
    """The caller's account, locked. Raises CurrentPasswordWrong when a reset, a deletion or the like has ended the
    session since the password was checked."""
    account = session.get_one(Account, caller.id, with_for_update=True)
    if not sessions.is_session_active(session, caller.session_id):
        raise CurrentPasswordWrong()
    return account


def add_role(session: OrmSession, account: Account, applicant: Applicant) -> None:
    """Gives an existing account one more role, or the profile of a role that it holds without one."""
    add_profile(session, account, applicant)
    if applicant.role in account.roles:
        return
    account.roles = [*account.roles, applicant.role]
    account.phone = account.phone or applicant.phone
    if applicant.tier is not None:
        account.admin_tier, account.admin_title = applicant.tier, applicant.title
    account.version += 1
    session.flush()
    enqueue_notice("role_added", account.id, role=applicant.role)


def create_account(session: OrmSession, applicant: Applicant, *, verified: bool) -> Account | None:
    """The new account of a free address with its profile; None when it is not free."""
    lock_address(session, applicant.email)
    return insert_account(session, applicant, verified=verified)


def insert_account(session: OrmSession, applicant: Applicant, *, verified: bool) -> Account | None:
    """The same in one statement, for anyone who has locked the address."""
    values = {**_build_account_values(applicant), "password_version": 1, "version": 1}
    statement = insert(Account).values(
        id=new_id(), email=applicant.email, email_verified_at=func.now() if verified else None, **values
    )
    inserted = statement.on_conflict_do_nothing(index_elements=["email"]).returning(Account).cte("made")
    query = select(aliased(Account, inserted))
    profile_model = PROFILES.get(applicant.role)
    if profile_model is not None:
        columns = {"account_id": inserted.c.id, **{name: literal(value) for name, value in applicant.profile.items()}}
        profile = insert(profile_model).from_select([*columns], select(*columns.values()), include_defaults=False)
        query = query.add_cte(profile.cte("profile"))
    return session.scalar(query)


def add_role_if_unchanged(session: OrmSession, account: Account, applicant: Applicant) -> Account | None:
    """The account, locked, with one more role and its profile unless it has them, in one statement.

    None when it has another password than the one it was read with, or was deleted or retired since: an old password
    gives no role. Then the caller must roll back.
    """
    has_role = Account.roles.contains([applicant.role])
    profile = insert(PROFILES[applicant.role]).values(account_id=account.id, **applicant.profile)
    statement = (
        update(Account)
        .where(Account.id == account.id, Account.password_version == account.password_version)
        .values(
            roles=case((has_role, Account.roles), else_=func.array_append(Account.roles, applicant.role)),
            phone=case((has_role, Account.phone), else_=func.coalesce(Account.phone, applicant.phone)),
            version=Account.version + case((has_role, 0), else_=1),
        )
        .returning(Account)
        .add_cte(profile.on_conflict_do_nothing().cte("profile"))
    )
    return session.scalars(
        statement, execution_options={"populate_existing": True, "synchronize_session": False}
    ).one_or_none()


def add_profile(session: OrmSession, account: Account, applicant: Applicant) -> None:
    """Makes the profile of the applicant's role, unless there is one or the role has none."""
    profile_model = PROFILES.get(applicant.role)
    if profile_model is not None:
        profile = insert(profile_model).values(account_id=account.id, **applicant.profile)
        session.execute(profile.on_conflict_do_nothing())


def _build_account_values(applicant: Applicant) -> dict[str, Any]:
    return {
        "name": applicant.name,
        "password_hash": applicant.password_hash,
        "phone": applicant.phone,
        "roles": [applicant.role],
        "admin_tier": applicant.tier,
        "admin_title": applicant.title,
    }
