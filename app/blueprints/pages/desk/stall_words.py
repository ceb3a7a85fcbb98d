"""How the desk names the states of applications and fees, and what it says when an act on them is refused."""

from app.applications import states
from app.applications.errors import (
    AlreadyDecided,
    ApplicationsClosed,
    FeeRefunded,
    NothingDue,
    NothingToRefund,
    NoWaitlist,
    StallTypeFull,
)
from app.applications.queries import ApplicationRecord
from app.core.addresses import mask_number
from app.core.errors import AppError
from app.core.formatting import format_day
from app.core.languages import gettext, lazy_gettext, lazy_pgettext

STATE_LABELS = {
    states.SUBMITTED: lazy_gettext("To decide"),
    states.WAITLISTED: lazy_gettext("On the waitlist"),
    states.AWAITING_DOCUMENTS: lazy_gettext("Documents missing"),
    states.AWAITING_PAYMENT: lazy_gettext("Fee to pay"),
    states.READY: lazy_gettext("Account to open"),
    states.ACTIVATED: lazy_gettext("Takes part"),
    states.DECLINED: lazy_gettext("Declined"),
    states.WITHDRAWN: lazy_gettext("Withdrawn"),
    states.EXPIRED: lazy_gettext("Ended"),
}
FEE_LABELS = {
    "none": "",
    "open": lazy_gettext("Open"),
    "overdue": lazy_gettext("Overdue"),
    "paid": lazy_gettext("Paid"),
    "waived": lazy_gettext("Waived"),
    "refunded": lazy_gettext("Refunded"),
}
RISK_LABELS = {"low": lazy_pgettext("risk", "Low"), "medium": lazy_gettext("Medium"), "high": lazy_gettext("High")}
LINK_LABELS = {
    states.DOCUMENTS: lazy_gettext("Send the documents"),
    states.PAYMENT: lazy_gettext("Pay the fee"),
    states.ACTIVATION: lazy_gettext("Open the account"),
}
OFFER_LABELS = {
    "accepted": lazy_gettext("accepted"),
    "declined": lazy_gettext("declined"),
    "ended": lazy_gettext("ended"),
}
REFUND_LABELS = {
    states.REFUND_REQUESTED: lazy_gettext("under way"),
    states.REFUNDED: lazy_gettext("sent"),
    states.REFUND_REFUSED: lazy_gettext("refused by the wallet: send the money by transfer, and record that"),
}
FULL = lazy_gettext("All places of this stall type are taken. To approve one more, tick this and enter a reason.")
WORDS = {
    AlreadyDecided.code: lazy_gettext(
        "The application was decided differently in the meantime, or its fee is paid. Open the page again."
    ),
    ApplicationsClosed.code: lazy_gettext(
        "The event is over, cancelled or archived, so this is not possible any more. You can still decline applications."
    ),
    NothingDue.code: lazy_gettext("This application does not need that now. Open the page again."),
    NothingToRefund.code: lazy_gettext("No fee was paid for this application, so nothing can be sent back."),
    FeeRefunded.code: lazy_gettext("This fee was sent back already, or is on its way."),
    NoWaitlist.code: lazy_gettext("This stall type has no waitlist. Give the stall type a number of places first."),
    StallTypeFull.code: lazy_gettext("All places of this stall type are taken."),
    states.StepNotAllowed.code: lazy_gettext("You cannot do this with the application now. Open the page again."),
}


def describe_payment(row: ApplicationRecord) -> str:
    """How the applicant wants to pay the fee, and when; the wallet by its last digits."""
    if row["destination"] == "bank":
        method = gettext("by bank transfer")
    elif row["payrail_msisdn"]:
        method = gettext("from the wallet %(number)s", number=mask_number(row["payrail_msisdn"]))
    else:
        method = gettext("from a mobile wallet")
    if row["mode"] == "now" or row["scheduled_for"] is None:
        return method if row["decision"] == states.APPROVED else gettext("%(method)s, once approved", method=method)
    return gettext("%(method)s, on %(day)s", method=method, day=format_day(row["scheduled_for"], row["event_timezone"]))


def reword(error: AppError) -> AppError:
    """The error with the words for an organiser; those of other pages are for the applicant."""
    return type(error)(str(WORDS[error.code])) if error.code in WORDS else error
