"""Errors of the payment rail."""

from app.core.errors import Unauthorised, Unavailable, Unprocessable


class PayrailDisabled(Unavailable):
    number, code = 50345, "PAYRAIL_DISABLED"
    message = "Payments are switched off here; nothing was charged. The organiser can tell you how to pay instead."


class PayrailUnavailable(Unavailable):
    number, code = 50346, "PAYRAIL_UNAVAILABLE"
    message = "The payment rail does not answer right now; nothing was charged. Try again in a moment."


class CallbackNotSigned(Unauthorised):
    number, code = 40114, "CALLBACK_NOT_SIGNED"
    message = "This callback has no valid signature of the payment rail; see docs/payrail.md for how to sign."


class CallbackUnreadable(Unprocessable):
    number, code = 42214, "CALLBACK_UNREADABLE"
    message = "The callback is signed but is no event; see docs/payrail.md for its fields."
