"""Deletion of merchants: refused while they have money, and what it erases of their payouts."""

from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.ledger.models import Balance
from app.ledger.transactions import load_balances
from app.merchants.deletion_hooks import MerchantDeletion, deletion_check, on_merchant_deleted
from app.merchants.errors import BalanceNotZero, PayoutInProgress
from app.payouts.models import Payout
from app.payouts.reviews import RETIRED_WITH_MONEY, create_review
from app.payouts.states import BOUNCE_WINDOW, PAID

_BOUNCE_WINDOW_END_QUERY = (
    select(func.max(Payout.settled_at) + BOUNCE_WINDOW)
    .where(Payout.account_id == Balance.owner_id, Payout.status == PAID, Payout.settled_at > func.now() - BOUNCE_WINDOW)
    .scalar_subquery()
)
LOCK_BALANCE_QUERY = select(
    Balance.available_minor, Balance.held_minor, _BOUNCE_WINDOW_END_QUERY.label("until")
).with_for_update(of=Balance)


@deletion_check
def check_open_money(session: OrmSession, account_id: str) -> datetime | None:
    """The time until which the last payout may come back, or None.

    Raises PayoutInProgress while an amount is held, BalanceNotZero while one is available. The caller has locked the
    account, so an import of a settlement waits, and then finds no merchant.
    """
    row = session.execute(LOCK_BALANCE_QUERY.where(Balance.owner_id == account_id)).first()
    if row is None:
        return None
    if row.held_minor:
        raise PayoutInProgress(heldMinor=row.held_minor)
    if row.available_minor:
        raise BalanceNotZero(balanceMinor=row.available_minor)
    until: datetime | None = row.until
    return until


@on_merchant_deleted
def erase_destinations(session: OrmSession, deleted_merchant: MerchantDeletion) -> None:
    """Erase the destinations. Amounts and times stay, because the ledger has to keep them."""
    session.execute(
        update(Payout)
        .where(Payout.account_id == deleted_merchant.account_id)
        .values(sealed_to=None, shown_as="deleted", wallet_mark=None)
        .execution_options(synchronize_session=False)
    )


@on_account_retired
def create_balance_review(session: OrmSession, account_id: str) -> None:
    """Create a review if the account has money that was credited before its address got a new owner."""
    balances = load_balances(session, account_id, lock=True)
    if balances.balance_minor:
        create_review(session, account_id, RETIRED_WITH_MONEY, balanceMinor=balances.balance_minor)
