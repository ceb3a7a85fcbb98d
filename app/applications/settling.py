"""What the rail has said becomes what we know: one place for the answer to a code and for asking later."""

from datetime import timedelta

import structlog
from sqlalchemy import func, select

from app.applications.models import Application, StallPayment
from app.applications.payment import TRIES
from app.applications.progress import go_on, post
from app.clients.payrail import Outcome
from app.core.db import ReadOrWriteSession
from app.core.transaction import transaction

ASK_AFTER = timedelta(seconds=20)
"""Longer than a call to the rail may take, so that nobody asks while the answer is on its way."""
log = structlog.get_logger(__name__)


def settle(payment_id: str, outcome: Outcome) -> StallPayment:
    """The payment after this outcome. That it was paid counts whenever it is heard; all else only while it runs."""
    with transaction() as session:
        application, row = _locked(session, payment_id)
        if outcome is Outcome.PAID and row.status != "paid":
            _paid(session, application, row)
        elif row.status == "processing":
            row.status = _next(row, outcome)
            application.version += 1
    return row


def not_asked(payment_id: str) -> None:
    """Gives back a try that the rail surely never saw, and the code with it."""
    with transaction() as session:
        application, row = _locked(session, payment_id)
        if row.status == "processing":
            row.status, row.tries = "otp_required", row.tries - 1
            application.version += 1


def _locked(session: ReadOrWriteSession, payment_id: str) -> tuple[Application, StallPayment]:
    application = session.scalars(
        select(Application)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id)
        .with_for_update(of=Application)
        .execution_options(populate_existing=True)
    ).one()
    # The application first, as everywhere: two orders of locking would wait for each other.
    row = session.get_one(StallPayment, payment_id, with_for_update=True, populate_existing=True)
    return application, row


def _next(row: StallPayment, outcome: Outcome) -> str:
    if outcome is Outcome.UNKNOWN:
        return "processing"
    if outcome is Outcome.DECLINED:
        return "declined"
    return "expired" if row.tries >= TRIES else "otp_required"


def _paid(session: ReadOrWriteSession, application: Application, row: StallPayment) -> None:
    if application.paid_at is not None:
        log.error("stall_fee_paid_twice", payment_id=row.id, application_id=application.id)
        return
    row.status, row.paid_at, application.paid_at = "paid", func.now(), func.now()
    session.flush()
    post("application_paid", application, payment_id=row.id)
    go_on(session, application)
