"""Bookings of stall fees in the ledger, per organisation and event, and the integrity checks of them.

Money that comes in is booked from `rail_clearing` (paid by the rail) or `bank` (received by transfer) to
`organisation`; a refund is booked the other way. The references are the application's, so each is booked once. A waived
fee is no money. Without an organiser there are no books.
"""

from app.applications import fee_sql
from app.applications.models import Application, StallFeeRefund
from app.applications.states import BY_RAIL
from app.core.db import fetch_row
from app.core.transaction import transaction
from app.ledger.commands import register_check
from app.ledger.models import BANK, ORGANISATION, RAIL_CLEARING, STALL_FEE, STALL_FEE_REFUND
from app.ledger.transactions import post_event_transaction


def book_fee(application: Application, account: str) -> None:
    """Books the whole fee, which came in on `account`, in the open transaction."""
    amount_minor = application.amount_minor
    _post(STALL_FEE, application, {ORGANISATION: amount_minor, account: -amount_minor})


def book_refund(application: Application, refund: StallFeeRefund) -> None:
    """Books a refund in the open transaction."""
    account = RAIL_CLEARING if refund.method == BY_RAIL else BANK
    _post(STALL_FEE_REFUND, application, {ORGANISATION: -refund.amount_minor, account: refund.amount_minor})


def book_missing_fees() -> int:
    """Books the fees that a version without books has recorded. Returns their number."""
    with transaction():
        row = fetch_row(fee_sql.BOOK_MISSING_FEES, {})
        return row[0] if row else 0


def _post(kind: str, application: Application, legs: dict[str, int]) -> None:
    if application.organiser_id is not None:
        post_event_transaction(
            kind,
            application.id,
            application.organiser_id,
            application.event_id,
            legs,
            description=application.reference,
        )


register_check("the stall fees that are due are paid, waived, refunded or open, per event", fee_sql.FEES_NOT_ACCOUNTED)
register_check("every stall fee and refund is booked as it was paid, once", fee_sql.FEES_UNLIKE_THEIR_BOOKINGS)
register_check(
    "of every stall fee with an invoice, that less its credit note is what was paid and kept",
    fee_sql.FEES_UNLIKE_THEIR_INVOICES,
)
