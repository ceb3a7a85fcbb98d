"""Errors of applications, links, documents and stall payments."""

from app.core.errors import Conflict, Gone, TooLarge, Unprocessable, UnsupportedMedia
from app.core.errors import LinkExpired as LinkExpired
from app.core.errors import LinkUsed as LinkUsed
from app.core.languages import mark_for_translation


class AlreadyDecided(Conflict):
    number, code = 40946, "ALREADY_DECIDED"
    message = "This application was decided otherwise already; read it again."


class DocumentsMissing(Conflict):
    number, code = 40947, "DOCUMENTS_MISSING"
    message = "Required documents are missing; data.missing names them."


class DocumentsClosed(Conflict):
    number, code = 40948, "DOCUMENTS_CLOSED"
    message = "The documents have been handed in already; ask the organiser if one must be replaced."


class NothingDue(Conflict):
    number, code = 40949, "NOTHING_DUE"
    message = "Nothing of that kind is due for this application now; data.status says its state."


class InvoiceNotAvailable(Conflict):
    number, code = 40934, "INVOICE_NOT_AVAILABLE"
    message = "This application has no invoice: no stall fee is due or paid; data.status says its state."


class InvoiceIssued(Conflict):
    number, code = 40935, "INVOICE_ISSUED"
    message = mark_for_translation(
        "The invoice is issued and cannot change any more. Ask the organiser if it is wrong."
    )


class PaymentExpired(Conflict):
    number, code = 40950, "PAYMENT_EXPIRED"
    message = "The time for the code is over, or it was wrong five times; nothing was charged. Start the payment again."


class PaymentNotStarted(Conflict):
    number, code = 40951, "PAYMENT_NOT_STARTED"
    message = "No payment has been started; start one, and a code goes to the wallet's number."


class PaymentDeclined(Conflict):
    number, code = 40952, "PAYMENT_DECLINED"
    message = "The wallet declined the payment; nothing was charged. Check its balance, or pay from another wallet."


class ApplicationsClosed(Conflict):
    number, code = 40953, "APPLICATIONS_CLOSED"
    message = "This event is over or was cancelled, so applications to it cannot go on, and it takes no stall fees."


APPLICATIONS_ENDED = (
    "The organiser takes no more applications for stalls at this event; an invitation can still be used."
)
"""The message of `ApplicationsClosed` after the time until which people may apply."""


class NotWithdrawable(Conflict):
    number, code = 40954, "NOT_WITHDRAWABLE"
    message = "The stall fee is paid, so the application cannot be withdrawn here; write to the organiser."


class HasStall(Conflict):
    number, code = 40996, "HAS_STALL"
    message = "You have a stall at this event already, or an approved application for one."


class StallTypeFull(Conflict):
    number, code = 40972, "STALL_TYPE_FULL"
    message = "All places of this stall type are taken; data.taken says how many."


class NothingToRefund(Conflict):
    number, code = 40994, "NOTHING_TO_REFUND"
    message = "No stall fee was paid or received for this application, so nothing can be sent back."


class FeeRefunded(Conflict):
    number, code = 40995, "FEE_REFUNDED"
    message = "This stall fee was refunded otherwise already, or a refund is under way; data says how much."


class NoWaitlist(Conflict):
    number, code = 40959, "NO_WAITLIST"
    message = "Only a stall type of an event, with a quantity, has a waitlist."


class PlaceOfferEnded(Gone):
    number, code = 41047, "PLACE_OFFER_ENDED"
    message = "This offer has ended; the place goes to the next in line."


class PlaceOfferChanged(Conflict):
    number, code = 40997, "PLACE_OFFER_CHANGED"
    message = mark_for_translation(
        "The organiser has changed the fee of this place. Read the offer again before you accept it."
    )


class PaymentInProgress(Conflict):
    number, code = 40903, "PAYMENT_IN_PROGRESS"
    message = "A payment of this fee is in progress and its outcome is not known yet. Try again in a minute."


class DocumentTooLarge(TooLarge):
    number, code = 41345, "DOCUMENT_TOO_LARGE"
    message = "A document may have 10 MiB at most; data.kind says which one is larger."


class DocumentKindUnsupported(UnsupportedMedia):
    number, code = 41545, "DOCUMENT_TYPE_UNSUPPORTED"
    message = "A document must be a PDF, JPEG or PNG file by its content; data.kind says which one is not."


class OtpWrong(Unprocessable):
    number, code = 42245, "OTP_WRONG"
    message = "This is not the code; data.triesLeft says how often it may still be tried."


class StatementUnreadable(Unprocessable):
    number, code = 42246, "STATEMENT_UNREADABLE"
    message = "The file is no bank statement with the columns date, amount and description."


class NotResolvable(Exception):
    """An operator asked for a step that the payment's state does not allow."""


class StallFeesOpen(Conflict):
    number, code = 40968, "STALL_FEES_OPEN"
    message = "Some stall fees for your events are not settled; wait until they are."
