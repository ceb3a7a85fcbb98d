"""The deletion of accounts, and hooks by which other domains take part in it.

`@account_deletion_check` registers a check that can refuse a deletion. It raises a Conflict whose text says what to do
first, or returns until when money that was paid out may come back, or None:

    @account_deletion_check
    def check_events_over(session, account_id):
        if …: raise EventsNotOver(events=…)

Checks run when the owner asks for the deletion, and again in the transaction that erases the account.

`@on_account_deleted` registers a function that erases what a domain has stored about the person, in the transaction of
the deletion, after the account itself:

    @on_account_deleted
    def erase_merchant(session, deletion):
        session.execute(update(…))

The row of the account is locked before the checks run, so code that inserts a row that refers to it either commits
before and is seen, or waits until the account is erased. `@lock_before_account` registers a function that locks rows
which other code locks before the account.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.errors import LastSuperAdmin
from app.accounts.models import DELETED_DOMAIN, SUPER_ADMIN, Account
from app.accounts.outgoing_mail import enqueue_notice
from app.accounts.queries import lock_address
from app.accounts.sql import ERASE_ACCOUNT_SQL
from app.audit.actions import Action
from app.audit.log import record
from app.core.errors import Conflict
from app.core.formatting import format_time
from app.core.outbox import enqueue
from app.core.transaction import lock_name

GRACE_PERIOD = timedelta(days=7)
DELETED_ACCOUNT_NAME = "Deleted account"


@dataclass(frozen=True)
class AccountDeletion:
    """A deleted account, and its address if it was verified."""

    account_id: str
    email: str | None


Lock = Callable[[OrmSession, str], None]
Check = Callable[[OrmSession, str], datetime | None]
Hook = Callable[[OrmSession, AccountDeletion], None]
_locks: list[Lock] = []
_checks: list[Check] = []
_hooks: list[Hook] = []


def lock_before_account(lock: Lock) -> Lock:
    """Registers a function that locks a domain's rows about an account before the account is locked."""
    _locks.append(lock)
    return lock


def account_deletion_check(check: Check) -> Check:
    """Registers a check, which raises a Conflict."""
    _checks.append(check)
    return check


def on_account_deleted(hook: Hook) -> Hook:
    """Registers a function that erases a domain's data about a deleted account."""
    _hooks.append(hook)
    return hook


def lock_for_deletion(session: OrmSession, account_id: str) -> Account | None:
    """The account, locked with its address and the rows that the checks read; None when there is none."""
    row = session.execute(select(Account.email, Account.admin_tier).where(Account.id == account_id)).first()
    if row is None:
        return None
    lock_address(session, row.email)
    if row.admin_tier == SUPER_ADMIN:
        lock_admins(session)
    for lock in _locks:
        lock(session, account_id)
    return session.get(Account, account_id, with_for_update=True, populate_existing=True)


def lock_admins(session: OrmSession) -> None:
    """Lets what ends the access of admins happen one after the other, so that one super_admin remains."""
    lock_name(session, "admin-accounts")


def check_deletion(session: OrmSession, account: Account) -> datetime | None:
    """Until when money that was paid out may come back; None when it cannot. The account is locked.

    Raises LastSuperAdmin, and the errors of the registered checks.
    """
    if account.admin_tier == SUPER_ADMIN and not _has_other_super_admin(session, account.id):
        raise LastSuperAdmin()
    return_times = [check(session, account.id) for check in _checks]
    return max((return_time for return_time in return_times if return_time is not None), default=None)


def _has_other_super_admin(session: OrmSession, account_id: str) -> bool:
    query = exists().where(
        Account.admin_tier == SUPER_ADMIN,
        Account.id != account_id,
        Account.email_verified_at.is_not(None),
        Account.suspended_at.is_(None),
        Account.deletion_due_at.is_(None),
    )
    return bool(session.scalar(select(query)))


def erase_account_when_due(session: OrmSession, account_id: str) -> None:
    """Erases the account if its grace period is over. A suspended account is kept until it is restored.

    If a check refuses, the account stays, and its owner gets a mail with the reason.
    """
    account = lock_for_deletion(session, account_id)
    is_due = session.scalar(select(Account.deletion_due_at <= func.now()).where(Account.id == account_id))
    if account is None or not is_due or account.suspended_at is not None:
        return
    try:
        returns_until = check_deletion(session, account)
    except Conflict as error:
        account.deletion_due_at = None
        account.version += 1
        enqueue_notice("account_not_deleted", account_id, why=error.text)
        return
    email = account.email if account.email_verified_at is not None else None
    name = account.name
    record(session, Action.ACCOUNT_DELETED, account_id=account_id, subject=account_id)
    erase_account(session, account)
    if email is not None:
        until = format_time(returns_until) if returns_until else ""
        enqueue("accounts.mail_farewell", account_id=account_id, email=email, name=name, until=until)


def erase_account(session: OrmSession, account: Account, *, name: str = DELETED_ACCOUNT_NAME) -> None:
    """Erases the account and what all domains have stored about the person. `lock_for_deletion` has locked it."""
    account_id, email = account.id, account.email
    is_verified = account.email_verified_at is not None
    session.execute(
        ERASE_ACCOUNT_SQL,
        {
            "id": account_id,
            "email": email,
            "erased_email": f"{account_id}@{DELETED_DOMAIN}",
            "erased_name": name,
        },
    )
    session.expunge(account)
    for hook in _hooks:
        hook(session, AccountDeletion(account_id, email if is_verified else None))
    enqueue("accounts.delete_exports")
