"""What holds a merchant here while money is open, and what is forgotten of him when he has gone."""

from sqlalchemy import update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.retirement import on_account_retired
from app.ledger.posting import balances_in
from app.merchants.errors import BalanceNotZero, PayoutInProgress
from app.merchants.farewell import forgets_merchants
from app.merchants.money import asks_for_open_money
from app.payouts.models import Payout
from app.payouts.reviewing import RETIRED_WITH_MONEY, review


@asks_for_open_money
def open_money(session: OrmSession, account_id: str) -> None:
    """Raises PayoutInProgress while an amount is held, BalanceNotZero while there is one to spend.

    The account is locked by then: a settlement that names it waits, and then finds no merchant.
    """
    balances = balances_in(session, account_id, lock=True)
    if balances.held_minor:
        raise PayoutInProgress(heldMinor=balances.held_minor)
    if balances.available_minor:
        raise BalanceNotZero(balanceMinor=balances.balance_minor)


@forgets_merchants
def forget(session: OrmSession, account_id: str) -> None:
    """Erases where money went. That and when it went stays, as the books have to."""
    session.execute(
        update(Payout)
        .where(Payout.account_id == account_id)
        .values(sealed_to=None, shown_as="deleted", wallet_mark=None)
        .execution_options(synchronize_session=False)
    )


@on_account_retired
def review_balance(session: OrmSession, account_id: str) -> None:
    """Has an operator look at money that was credited to an account before its address changed hands."""
    balances = balances_in(session, account_id, lock=True)
    if balances.balance_minor:
        review(session, account_id, RETIRED_WITH_MONEY, balanceMinor=balances.balance_minor)
