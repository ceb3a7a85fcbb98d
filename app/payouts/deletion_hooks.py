"""What holds a merchant here while money is open, and what is forgotten of them when they have gone."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.retirement import on_account_retired
from app.ledger.models import Balance
from app.ledger.transactions import load_balances
from app.merchants.deletion_hooks import MerchantDeletion, deletion_check, on_merchant_deleted
from app.merchants.errors import BalanceNotZero, PayoutInProgress
from app.payouts.models import Payout
from app.payouts.states import BOUNCE_WINDOW, PAID
from app.payouts.transitions import RETIRED_WITH_MONEY, create_review

_BOUNCE_WINDOW_END: Any = func.max(Payout.settled_at) + BOUNCE_WINDOW
_BOUNCE_WINDOW_END_QUERY = (
    select(_BOUNCE_WINDOW_END)
    .where(Payout.account_id == Balance.owner_id, Payout.status == PAID, Payout.settled_at > func.now() - BOUNCE_WINDOW)
    .scalar_subquery()
)
LOCK_BALANCE_QUERY = select(
    Balance.available_minor, Balance.held_minor, _BOUNCE_WINDOW_END_QUERY.label("until")
).with_for_update(of=Balance)


@deletion_check
def check_open_money(session: OrmSession, account_id: str) -> datetime | None:
    """Until when the last payout may come back. Raises PayoutInProgress while an amount is held, BalanceNotZero while
    there is one to spend.

    The account is locked by then: a settlement that names it waits, and then finds no merchant.
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
    """Erases where money went. That and when it went stays, as the books have to."""
    session.execute(
        update(Payout)
        .where(Payout.account_id == deleted_merchant.account_id)
        .values(sealed_to=None, shown_as="deleted", wallet_mark=None)
        .execution_options(synchronize_session=False)
    )


@on_account_retired
def create_balance_review(session: OrmSession, account_id: str) -> None:
    """Has an operator look at money that was credited to an account before its address changed hands."""
    balances = load_balances(session, account_id, lock=True)
    if balances.balance_minor:
        create_review(session, account_id, RETIRED_WITH_MONEY, balanceMinor=balances.balance_minor)
