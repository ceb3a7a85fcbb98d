"""Erasing what the domains above know of a merchant who goes, by deleting themselves or by losing their address.

    @erases_with_merchant
    def erase(session, leaving):
        session.execute(update(…))

It runs in the transaction of the deletion, so no later job can meet a profile that the same account has made since.
The rows of account and profile are locked by then: anyone who writes for a merchant locks one of them before, and so comes
first or finds nobody. What is slow or may fail, such as removing files, leaves by a job that names the files.

A retired account is erased by a job; nobody signs in to it again. Register such functions in the domain's `jobs.py`, or
in what it imports, and let them bear being run twice.

Whether money of a merchant is still open: asked before a merchant goes.

Money lives above this domain, so anyone who keeps some registers how to find it:

    @asks_for_open_money
    def balance(session, account_id):
        if …: raise BalanceNotZero(balanceMinor=…)
        return moment

The answer is until when money that was paid out may come back, or None. A check runs inside the deletion, with the
merchant's row and the account's locked, and locks what it looks at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session as OrmSession


@dataclass(frozen=True)
class MerchantDeletion:
    """Who goes: the account, its address if it is verified, and whether it was retired."""

    account_id: str
    email: str | None = None
    retired: bool = False


DeletionHook = Callable[[OrmSession, MerchantDeletion], None]
_deletion_hooks: list[DeletionHook] = []


def on_merchant_deleted(hook: DeletionHook) -> DeletionHook:
    """Registers what a domain erases."""
    _deletion_hooks.append(hook)
    return hook


def run_deletion_hooks(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Erases personal data in the domains above, in the open transaction."""
    for hook in _deletion_hooks:
        hook(session, deletion)


DeletionCheck = Callable[[OrmSession, str], datetime | None]
_deletion_checks: list[DeletionCheck] = []


def deletion_check(check: DeletionCheck) -> DeletionCheck:
    """Registers a check, which raises BalanceNotZero or PayoutInProgress."""
    _deletion_checks.append(check)
    return check


def check_open_money(session: OrmSession, account_id: str) -> datetime | None:
    """Until when money that was paid out may come back; None when none may.

    Raises BalanceNotZero or PayoutInProgress while there is money to come or to go.
    """
    moments = [check(session, account_id) for check in _deletion_checks]
    return max((moment for moment in moments if moment is not None), default=None)
