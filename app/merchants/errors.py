"""Errors of merchants."""

from app.core.errors import Conflict


class MerchantPaused(Conflict):
    number, code = 40960, "MERCHANT_PAUSED"
    message = "This merchant is paused; resume it first."


class BalanceNotZero(Conflict):
    number, code = 40961, "BALANCE_NOT_ZERO"
    message = "There is money on the balance; have it paid out before you delete the merchant."


class MerchantDeleted(Conflict):
    number, code = 40913, "MERCHANT_DELETED"
    message = "This merchant account was deleted a moment ago; nothing was changed."


class PayoutInProgress(Conflict):
    number, code = 40962, "PAYOUT_IN_PROGRESS"
    message = "A payout is under way; wait until it is settled, or cancel it, before you delete the merchant."
