"""The refund of a stall fee: what it needs to be complete, whether the rail or the organiser sends the money."""

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.accounts.permissions import MONEY_WRITE
from app.accounts.queries import works_in_organisation
from app.applications.emails import enqueue_email
from app.applications.fee_bookings import book_refund
from app.applications.fee_credit_notes import issue_credit_note
from app.applications.models import Application, StallFeeRefund
from app.applications.states import REFUND_REFUSED, REFUND_REQUESTED, REFUNDED
from app.core.db import ReadOrWriteSession
from app.core.outbox import enqueue_all, job_spec


def find_requested_refund(session: OrmSession, application_id: str) -> StallFeeRefund | None:
    """The refund for which the rail is asked."""
    query = select(StallFeeRefund).where(
        StallFeeRefund.application_id == application_id, StallFeeRefund.status == REFUND_REQUESTED
    )
    refund: StallFeeRefund | None = session.scalar(query.execution_options(populate_existing=True))
    return refund


def refuse_refund(session: OrmSession, application: Application) -> None:
    """Records that the rail does not send the money, and mails those of the organiser who can. The application must be
    locked."""
    refund = find_requested_refund(session, application.id)
    if refund is None:
        return
    refund.status = REFUND_REFUSED
    application.version += 1
    recipients = select(Account.id).select_from(Application).join(Account, is_told_of_refusal_sql())
    recipient_ids = session.scalars(recipients.where(Application.id == application.id).order_by(Account.id))
    enqueue_all(
        job_spec("applications.mail_refund_refused", application_id=application.id, account_id=id)
        for id in recipient_ids
    )


def is_told_of_refusal_sql() -> ColumnElement[bool]:
    """Whether the `Account` gets the mail about a refused refund of the `Application`: it may refund it as one of the
    organisation, and its address is verified."""
    return works_in_organisation(MONEY_WRITE, Application.organiser_id, Application.event_id) & (
        Account.email_verified_at.is_not(None)
    )


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
