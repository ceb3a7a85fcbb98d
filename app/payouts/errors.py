"""Errors of payouts."""

from app.clients.payrail.errors import CallbackNotSigned, CallbackUnreadable
from app.core.errors import Conflict

CALLBACK_ERRORS = [CallbackNotSigned, CallbackUnreadable]


class OwnerMustConfirm(Conflict):
    number, code = 40993, "OWNER_MUST_CONFIRM"
    message = (
        "Nothing was paid to this destination before; only the owner of the business can request the first payout."
    )


class NotCancellable(Conflict):
    number, code = 40991, "NOT_CANCELLABLE"
    message = "It has been handed to the payment rail, or is over; only a payout that has not begun can be cancelled."


class PayoutDetailsMissing(Conflict):
    number, code = 40992, "PAYOUT_DETAILS_MISSING"
    message = "Say where the money goes: save payoutDetails in the account, or give payrailMsisdn for a wallet."


class NotResolvable(Exception):
    """An operator asked for a step that the payout's state does not allow; the text says which."""
