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
from app.core.errors import AppError

STATE_LABELS = {
    states.SUBMITTED: "To decide",
    states.WAITLISTED: "On the waitlist",
    states.AWAITING_DOCUMENTS: "Documents missing",
    states.AWAITING_PAYMENT: "Fee to pay",
    states.READY: "Account to open",
    states.ACTIVATED: "Takes part",
    states.DECLINED: "Declined",
    states.WITHDRAWN: "Withdrawn",
    states.EXPIRED: "Ended",
}
FEE_LABELS = {
    "none": "",
    "open": "Open",
    "overdue": "Overdue",
    "paid": "Paid",
    "waived": "Waived",
    "refunded": "Refunded",
}
RISK_LABELS = {"low": "Low", "medium": "Medium", "high": "High"}
LINK_LABELS = {
    states.DOCUMENTS: "Send the documents",
    states.PAYMENT: "Pay the fee",
    states.ACTIVATION: "Open the account",
}
REFUND_LABELS = {
    states.REFUND_REQUESTED: "under way",
    states.REFUNDED: "sent",
    states.REFUND_REFUSED: "refused by the wallet; send it by transfer, and record that",
}
FULL = "All places of this stall type are taken. Tick this, and give a reason, to approve one more."
WORDS = {
    AlreadyDecided.code: "This was decided otherwise already, or its fee is paid, so the decision stays as it is.",
    ApplicationsClosed.code: "The event is over or was cancelled, so this is not possible any more.",
    NothingDue.code: "Nothing of this kind is due for this application now.",
    NothingToRefund.code: "No fee was paid for this application, so nothing can be sent back.",
    FeeRefunded.code: "This fee was sent back already, or is on its way.",
    NoWaitlist.code: "This stall type has no waitlist. Give the stall type a number of places first.",
    StallTypeFull.code: "All places of this stall type are taken.",
    states.StepNotAllowed.code: "The application is in a state that does not allow this. Look at it again.",
}


def reword(error: AppError) -> AppError:
    """The error with the words for an organiser; those of other pages are for the applicant."""
    return type(error)(WORDS[error.code]) if error.code in WORDS else error
