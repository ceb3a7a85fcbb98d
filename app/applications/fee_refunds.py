"""The refund of a stall fee: what it needs to be complete, whether the rail or the organiser sends the money."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.emails import enqueue_email
from app.applications.fee_bookings import book_refund
from app.applications.fee_credit_notes import issue_credit_note
from app.applications.models import Application, StallFeeRefund
from app.applications.states import REFUND_REFUSED, REFUND_REQUESTED, REFUNDED
from app.core.db import ReadOrWriteSession


def find_requested_refund(session: OrmSession, application_id: str) -> StallFeeRefund | None:
    """The refund for which the rail is asked."""
    query = select(StallFeeRefund).where(
        StallFeeRefund.application_id == application_id, StallFeeRefund.status == REFUND_REQUESTED
    )
    refund: StallFeeRefund | None = session.scalar(query.execution_options(populate_existing=True))
    return refund


def refuse_refund(session: OrmSession, application: Application) -> None:
    """Records that the rail does not send the money, so that the organiser can. The application must be locked."""
    refund = find_requested_refund(session, application.id)
    if refund is not None:
        refund.status = REFUND_REFUSED
        application.version += 1


def complete_refund(session: ReadOrWriteSession, application: Application, refund: StallFeeRefund) -> None:
    """Records that the money is back, books it, issues the credit note and mails the applicant. The application must be locked."""
    refund.status, refund.refunded_at = REFUNDED, func.now()
    application.version += 1
    if refund.amount_minor == application.amount_minor:
        application.refunded_at = func.now()
    session.flush()
    book_refund(application, refund)
    issue_credit_note(session, application, refund)
    enqueue_email("application_refunded", application)
