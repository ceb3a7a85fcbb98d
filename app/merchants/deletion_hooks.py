"""Hooks by which other domains take part in the deletion of a merchant.

`@on_merchant_deleted` registers a function that erases what a domain has stored about the merchant:

    @on_merchant_deleted
    def erase_applications(session, deletion):
        session.execute(update(…))

It runs in the transaction of the deletion, with the rows of account and profile locked. Code that writes for a merchant
locks one of these rows first, so it either commits before or finds no merchant. Slow or unsafe work, such as removing
files, goes to a job with the names of the files. For a retired account, a job runs the hooks. Hooks may run twice, and
are registered in the domain's `jobs.py` or in a module that it imports.

`@deletion_check` registers a check that can refuse the deletion because of open money:

    @deletion_check
    def check_balance(session, account_id):
        if …: raise BalanceNotZero(balanceMinor=…)
        return returns_until

It returns until when money that was paid out may come back, or None. It runs before the erasure in the same
transaction, and locks the rows that it reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, update
from sqlalchemy.orm import Session as OrmSession

from app.merchants.models import Merchant, MerchantProfile
from app.merchants.states import CLOSED, DELETED


@dataclass(frozen=True)
class MerchantDeletion:
    """A deleted merchant: the account, its address if verified, and whether the account was retired."""

    account_id: str
    email: str | None = None
    retired: bool = False


DeletionHook = Callable[[OrmSession, MerchantDeletion], None]
DeletionCheck = Callable[[OrmSession, str], datetime | None]
_deletion_hooks: list[DeletionHook] = []
_deletion_checks: list[DeletionCheck] = []


def on_merchant_deleted(hook: DeletionHook) -> DeletionHook:
    """Registers a function that erases a domain's data about a deleted merchant."""
    _deletion_hooks.append(hook)
    return hook


def erase_business(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Erases the merchant and their profile, and what the other domains have stored about them."""
    session.execute(
        update(Merchant)
        .where(Merchant.account_id == deletion.account_id)
        .values(status=DELETED, floor_status=CLOSED, payout_details=None, settings={}, version=Merchant.version + 1)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        delete(MerchantProfile).where(MerchantProfile.account_id == deletion.account_id),
        execution_options={"synchronize_session": False},
    )
    run_deletion_hooks(session, deletion)


def run_deletion_hooks(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Erases the personal data in all domains, in the open transaction."""
    for hook in _deletion_hooks:
        hook(session, deletion)


def deletion_check(check: DeletionCheck) -> DeletionCheck:
    """Registers a check, which raises BalanceNotZero or PayoutInProgress."""
    _deletion_checks.append(check)
    return check


def check_open_money(session: OrmSession, account_id: str) -> datetime | None:
    """Until when money that was paid out may come back; None when it cannot.

    Raises BalanceNotZero or PayoutInProgress while the merchant has open money.
    """
    return_times = [check(session, account_id) for check in _deletion_checks]
    return max((return_time for return_time in return_times if return_time is not None), default=None)
