"""Creates accounts, adds roles, and retires unverified accounts whose address goes to another person.

A retired row keeps its id and loses its address and everything that can sign in. A job then runs the cleanups of the
other domains, which end what the account has created:

    @on_account_retired
    def end_events(session, account_id):
        session.execute(update(…))

Register such functions in the domain's `jobs.py`, which every worker imports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import case, cast, exists, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts import one_time_codes, sessions
from app.accounts.address_reservations import is_reserved_condition
from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong, OwnershipPassed
from app.accounts.models import PROFILES, Account, ResetToken
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import lock_account_by_email
from app.accounts.sql import RETIRE_ACCOUNT_SQL
from app.accounts.team_models import TeamMember
from app.audit.actions import Action
from app.audit.log import insert_entry, record
from app.core.errors import AppError
from app.core.ids import new_id
from app.core.languages import SOURCE_LANGUAGE, find_page_language
from app.core.outbox import enqueue

Cleanup = Callable[[OrmSession, str], None]
_cleanups: list[Cleanup] = []


@dataclass(frozen=True, kw_only=True)
class Applicant:
    """A person who asks for an account.

    `profile` has the columns of the role's profile table; it is empty for roles without one. `role` is empty for a
    replacement, which gets the roles of the old account. `language` is that of the pages on which they asked.
    """

    email: str
    name: str
    role: str = ""
    password_hash: str | None = None
    phone: str | None = None
    tier: str | None = None
    title: str | None = None
    language: str | None = None
    profile: Mapping[str, str | None] = field(default_factory=dict)


def create_account(
    session: OrmSession, applicant: Applicant, *, verified: bool, roles: Sequence[str] | None = None
) -> Account | None:
    """The new account with its profile, in one statement; None when the address is taken or reserved.

    The caller has locked the address. `roles`, if given, replace the applicant's single role.
    """
    new_roles = [applicant.role] if roles is None else list(roles)
    values: dict[str, object] = {
        "id": new_id(),
        "email": applicant.email,
        "email_verified_at": func.now() if verified else None,
        "password_hash": applicant.password_hash,
        "password_version": 1,
        "name": applicant.name,
        "phone": applicant.phone,
        # Nobody chooses English by seeing the pages in it: those without a catalogue of their language see it too.
        "language": None if applicant.language == SOURCE_LANGUAGE else applicant.language,
        "roles": new_roles,
        "admin_tier": applicant.tier,
        "admin_title": applicant.title,
        "version": 1,
    }
    new_row = select(*(cast(value, getattr(Account, name).type) for name, value in values.items()))
    inserted_account = (
        insert(Account)
        .from_select([*values], new_row.where(~is_reserved_condition(applicant.email)), include_defaults=False)
        .on_conflict_do_nothing(index_elements=["email"])
        .returning(Account)
        .cte("new_account")
    )
    # The entry is part of the statement, so that free and taken addresses take the same time.
    action = Action.ADMIN_CREATED if applicant.tier is not None else Action.REGISTERED
    entry = insert_entry(action, account=inserted_account.c.id, data={"roles": new_roles, "tier": applicant.tier})
    query = select(aliased(Account, inserted_account)).add_cte(entry.cte("audit"))
    if applicant.profile:
        columns = {
            "account_id": inserted_account.c.id,
            **{name: literal(value) for name, value in applicant.profile.items()},
        }
        profile = insert(PROFILES[applicant.role]).from_select(
            [*columns], select(*columns.values()), include_defaults=False
        )
        query = query.add_cte(profile.cte("new_profile"))
    return session.scalar(query)


def create_or_replace_account(session: OrmSession, applicant: Applicant) -> Account | None:
    """The applicant's new, unverified account; None when the address is taken or reserved. A code is mailed to the address.

    A verified owner gets a mail and nothing changes. An unverified account is retired, so that nobody can block an
    address that is not theirs; an admin's is never replaced. Free and taken addresses cost the same statements, count
    the same mails and get the same response.
    """
    existing_account = lock_account_by_email(session, applicant.email)
    replaced_account = existing_account if existing_account is not None and is_replaceable(existing_account) else None
    retire_account(session, replaced_account)
    account = create_account(session, applicant, verified=False)
    # A reset token proves access to the mailbox, so it follows the address to the new account.
    old_id, new_account_id = replaced_account.id if replaced_account else "", account.id if account else ""
    session.execute(
        update(ResetToken)
        .where(ResetToken.account_id == old_id, ResetToken.used_at.is_(None))
        .values(account_id=new_account_id, password_version=1)
        .execution_options(synchronize_session=False)
    )
    one_time_codes.issue_code_when_allowed(session, one_time_codes.VERIFY_EMAIL, applicant.email, registration=True)
    return account


def replace_unverified_account(
    session: OrmSession, old_account: Account, *, name: str, roles: Sequence[str], password_hash: str | None = None
) -> Account:
    """A new, verified account with the same address and these roles; the old account is retired.

    For a person who has proven that the mailbox is theirs. Only an admin's tier and title are copied.
    """
    applicant = Applicant(
        email=old_account.email,
        name=name,
        password_hash=password_hash,
        tier=old_account.admin_tier,
        title=old_account.admin_title,
        language=find_page_language(),
    )
    retire_account(session, old_account)
    account = create_account(session, applicant, verified=True, roles=roles)
    assert account is not None
    return account


def is_replaceable(account: Account) -> bool:
    """Whether a registration may retire this account: it is unverified, and not an admin's."""
    return account.email_verified_at is None and account.admin_tier is None


def build_default_name(email: str) -> str:
    """The name of an account whose owner has not given one: the local part of the address."""
    return email.partition("@")[0][:120]


def lock_own_account(
    session: OrmSession, caller: Caller, ended_error: type[AppError] = CurrentPasswordWrong
) -> Account:
    """The caller's account, locked.

    Raises `ended_error` when a reset or a deletion has ended the session since the caller proved who they are.
    """
    account = session.get_one(Account, caller.id, with_for_update=True)
    if not sessions.is_session_active(session, caller.session_id):
        raise ended_error()
    return account


def add_role(session: OrmSession, account: Account, applicant: Applicant) -> None:
    """Adds the applicant's role to an existing account, and the role's profile if it is missing.

    Raises OwnershipPassed for an account that has passed its organisation on.
    """
    _insert_missing_profile(session, account, applicant)
    if applicant.role in account.roles:
        return
    own_team = (TeamMember.team_id == account.id, TeamMember.kind == applicant.role)
    if session.scalar(select(exists().where(*own_team))):
        raise OwnershipPassed()
    account.roles = [*account.roles, applicant.role]
    account.phone = account.phone or applicant.phone
    if applicant.tier is not None:
        account.admin_tier, account.admin_title = applicant.tier, applicant.title
    account.version += 1
    session.flush()
    data = {"role": applicant.role, "tier": applicant.tier}
    record(session, Action.ROLE_ADDED, account_id=account.id, subject=account.id, data=data)
    enqueue_notice("role_added", account.id, role=applicant.role)


def add_role_if_unchanged(session: OrmSession, account: Account, applicant: Applicant) -> Account | None:
    """The account, locked, with the role and its profile added where they are missing, in one statement.

    None when the password has changed since `account` was read, or the account was deleted or retired: an old password
    must not add a role. The caller must then roll back.
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
        .add_cte(profile.on_conflict_do_nothing().cte("new_profile"))
    )
    return session.scalars(
        statement, execution_options={"populate_existing": True, "synchronize_session": False}
    ).one_or_none()


def _insert_missing_profile(session: OrmSession, account: Account, applicant: Applicant) -> None:
    if applicant.profile:
        profile = insert(PROFILES[applicant.role]).values(account_id=account.id, **applicant.profile)
        session.execute(profile.on_conflict_do_nothing())


def on_account_retired(cleanup: Cleanup) -> Cleanup:
    """Registers a domain's cleanup of a retired account. It may run twice."""
    _cleanups.append(cleanup)
    return cleanup


def retire_account(session: OrmSession, account: Account | None) -> None:
    """Frees the address of an unverified account, and ends its sessions and identities. Its row must be locked.

    For None the same statement runs and changes nothing, so that addresses with and without an account take the same
    time.
    """
    params = {
        "id": account.id if account else "",
        "email": account.email if account else "",
        "purpose": one_time_codes.VERIFY_EMAIL,
    }
    session.execute(RETIRE_ACCOUNT_SQL, params)
    if account is not None:
        enqueue("accounts.clean_up_retired_account", account_id=account.id)
        session.expunge(account)


def clean_up_retired_account(session: OrmSession, account_id: str) -> None:
    """Runs all registered cleanups for a retired account."""
    for cleanup in _cleanups:
        cleanup(session, account_id)
