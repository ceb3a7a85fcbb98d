"""What each step does to the books: which legs, on which accounts."""

from sqlalchemy.orm import Session as OrmSession

from app.ledger.models import BALANCE, CLEARING, HELD, HOLD, PAYOUT, RELEASE, RETURN
from app.ledger.posting import Balances, post


def hold(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Sets the amount aside. Raises InsufficientFunds."""
    return post(session, HOLD, payout_id, owner_id, {BALANCE: -amount, HELD: amount})


def release(session: OrmSession, payout_id: str, owner_id: str, amount: int) -> Balances:
    """Gives back what was set aside."""
    return post(session, RELEASE, payout_id, owner_id, {HELD: -amount, BALANCE: amount})


def pay(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """What was set aside has left."""
    legs = {HELD: -amount, CLEARING: amount}
    return post(session, PAYOUT, payout_id, owner_id, legs, description=f"Payout to {shown_as}")


def give_back(session: OrmSession, payout_id: str, owner_id: str, amount: int, *, shown_as: str) -> Balances:
    """What had left has come back: the compensating entry of a bounce."""
    legs = {CLEARING: -amount, BALANCE: amount}
    return post(session, RETURN, payout_id, owner_id, legs, description=f"Returned from {shown_as}")
