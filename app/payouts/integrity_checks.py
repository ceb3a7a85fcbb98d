"""Integrity checks between payouts and the ledger, for `flask ledger verify`."""

from app.ledger.integrity_check import register_check
from app.payouts import sql

register_check("what is held is what open payouts hold", sql.HELD_AMOUNTS_UNLIKE_OPEN_PAYOUTS)
register_check("every payout is booked as its state says, once", sql.PAYOUTS_UNLIKE_THEIR_TRANSACTIONS)
register_check("every payout's history ends with its state", sql.PAYOUTS_UNLIKE_THEIR_HISTORY)
register_check(
    "no payout to a new destination leaves before its owner was told and could stop it",
    sql.PAYOUTS_SUBMITTED_TOO_EARLY,
)
register_check(
    "every payout without an outcome for more than 72 hours has a review", sql.OVERDUE_PAYOUTS_WITHOUT_REVIEW
)
