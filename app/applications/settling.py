"""What the rail has said becomes what we know: one place for the answer to a code and for asking later."""

from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.orm.attributes import set_committed_value

from app.applications import links, states
from app.applications.models import Application, ApplicationLink, StallPayment
from app.applications.payment import TRIES
from app.applications.progress import going_on, letter
from app.clients.payrail import Outcome
from app.core.outbox import enqueue_all
from app.core.session import ReadOrWriteSession
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
            session.execute(_told(application, row, _next(row, outcome)))
    return row


def not_asked(payment_id: str) -> None:
    """Gives back a try that the rail surely never saw, and the code with it."""
    with transaction() as session:
        application, row = _locked(session, payment_id)
        if row.status == "processing":
            row.status, row.tries = "otp_required", row.tries - 1
            application.version += 1


def _locked(session: ReadOrWriteSession, payment_id: str) -> tuple[Application, StallPayment]:
    application, row = session.execute(
        select(Application, StallPayment)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id)
        # The application first, as everywhere: two orders of locking would wait for each other.
        .with_for_update(of=[Application, StallPayment])
        .execution_options(populate_existing=True)
    ).one()
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
    resting = states.outstanding(documents=application.documents_due, payment=False)
    goes_on = resting != application.status
    status = states.checked(application.status, resting) if goes_on else resting
    written = _told(application, row, "paid", status=status, paid_at=func.now())
    fresh: list[ApplicationLink] = []
    if goes_on and resting == states.READY:
        renewal = links.renewal(application.id, [links.ACTIVATION]).add_cte(written.cte("written"))
        fresh = list(session.scalars(renewal))
    else:
        session.execute(written)
    enqueue_all([*letter("application_paid", application, payment_id=row.id), *going_on(application, fresh)])


def _told(application: Application, row: StallPayment, outcome: str, **changes: Any) -> Any:
    """The one statement by which payment and application change; the payment that was read knows it at once."""
    paid: dict[str, Any] = {"paid_at": func.now()} if outcome == "paid" else {}
    of_payment = update(StallPayment).where(StallPayment.id == row.id).values(status=outcome, **paid)
    set_committed_value(row, "status", outcome)
    return (
        update(Application)
        .where(Application.id == application.id)
        .values(version=Application.version + 1, updated_at=func.now(), **changes)
        .add_cte(of_payment.cte("of_payment"))
        .execution_options(synchronize_session=False)
    )
