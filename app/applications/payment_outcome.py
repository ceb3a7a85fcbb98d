"""What the rail has said becomes what we know: one place for the answer to a code, for asking later and for operators.

A capture is recorded whenever it is heard, whatever has become of payment and application. Any other answer counts only
when it is final: `code_sent` after a confirmation says nothing, for the confirmation may still arrive.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm.attributes import set_committed_value

from app.applications import links, states
from app.applications.models import UNFINISHED_PAYMENT_STATES, Application, ApplicationLink, StallPayment
from app.applications.payment_reviews import (
    APPLICATION_CLOSED,
    CONTRADICTION,
    MISMATCH,
    SECOND_CAPTURE,
    add_review,
    add_review_detail,
)
from app.applications.stall_payments import MAX_TRIES, is_unanswered
from app.applications.transitions import build_activation_email_jobs, build_email_jobs
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.outbox import enqueue, enqueue_all
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction

STATUS_CHECK_DELAY = timedelta(seconds=20)
"""Longer than a call to the rail may take, so that no other worker asks while the answer is on its way."""
CURRENCY = "NAD"
STATUS_BY_OUTCOME = {Outcome.DECLINED: "declined", Outcome.EXPIRED: "expired", Outcome.REFUNDED: "expired"}


def refresh_payment(payment_id: str) -> StallPayment:
    """The payment after the rail was asked about it. No transaction may be open."""
    return record_outcome(payment_id, rail().charge_status(payment_id))


def record_outcome(payment_id: str, charge_state: ChargeState) -> StallPayment:
    """The payment after the rail, or an operator, has told of it. Any number may say the same at once."""
    with transaction() as session:
        application, payment = lock_payment(session, payment_id)
        if charge_state.outcome is Outcome.PAID:
            _record_capture(session, application, payment, charge_state)
        elif charge_state.outcome is Outcome.WRONG_CODE:
            _record_wrong_code(session, application, payment)
        elif charge_state.outcome in STATUS_BY_OUTCOME:
            _record_end(session, application, payment, charge_state.outcome)
    return payment


def restore_try(payment_id: str) -> None:
    """Gives back a try that the rail surely never saw, and the code with it."""
    with transaction() as session:
        application, payment = lock_payment(session, payment_id)
        if payment.status == "processing":
            payment.status, payment.tries = "otp_required", payment.tries - 1
            application.version += 1


def reopen_payment(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    """Makes a payment unanswered again: the money may have been taken after all, or another amount."""
    payment.tries = max(payment.tries, 1)
    payment.answered = min(payment.answered, payment.tries - 1)
    if payment.status != "processing" and application.paid_at is None:
        _end_other_payments(session, payment)
        payment.status = "processing"
    application.version += 1


def lock_payment(session: ReadOrWriteSession, payment_id: str) -> tuple[Application, StallPayment]:
    """A payment and its application, locked."""
    application, payment = session.execute(
        select(Application, StallPayment)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id)
        # The application first, as everywhere: two orders of locking would wait for each other.
        .with_for_update(of=[Application, StallPayment])
        .execution_options(populate_existing=True)
    ).one()
    return application, payment


def has_different_amount(payment: StallPayment, amount_minor: int | None, currency: str | None) -> bool:
    """Whether somebody tells of another amount than ours."""
    return amount_minor not in (None, payment.amount_minor) or currency not in (None, CURRENCY)


def _record_capture(
    session: ReadOrWriteSession, application: Application, payment: StallPayment, charge_state: ChargeState
) -> None:
    if payment.status == "paid" or payment.captured_at is not None:
        payment.answered = payment.tries
    elif application.paid_at is not None:
        _record_second_capture(session, application, payment, charge_state)
    elif has_different_amount(payment, charge_state.amount_minor, charge_state.currency):
        reopen_payment(session, application, payment)
        add_review(session, payment.id, MISMATCH, amountMinor=charge_state.amount_minor, currency=charge_state.currency)
    else:
        _record_paid(session, application, payment)


def _record_second_capture(
    session: ReadOrWriteSession, application: Application, payment: StallPayment, charge_state: ChargeState
) -> None:
    """Money that is not due any more: written down, given back where the rail can, and shown to a person."""
    payment.captured_at, payment.answered = func.now(), payment.tries
    if payment.status in UNFINISHED_PAYMENT_STATES:
        payment.status = "expired"
    application.version += 1
    captured_minor = charge_state.amount_minor or payment.amount_minor
    add_review(
        session, payment.id, SECOND_CAPTURE, amountMinor=captured_minor, currency=charge_state.currency or CURRENCY
    )
    enqueue("applications.refund_payment", payment_id=payment.id)


def _record_wrong_code(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    payment.answered = payment.tries
    if payment.status == "processing":
        payment.status = "expired" if payment.tries >= MAX_TRIES else "otp_required"
        application.version += 1


def _record_end(session: ReadOrWriteSession, application: Application, payment: StallPayment, outcome: Outcome) -> None:
    """No money is with us under this reference, and none will be."""
    if payment.captured_at is not None and outcome is Outcome.REFUNDED:
        payment.refunded_at = func.coalesce(StallPayment.refunded_at, func.now())
        add_review_detail(session, payment.id, SECOND_CAPTURE, refund="refunded")
    elif payment.status == "paid" or payment.captured_at is not None:
        add_review(session, payment.id, CONTRADICTION, status=payment.status, told=outcome.value)
    elif is_unanswered(payment) or payment.status in UNFINISHED_PAYMENT_STATES:
        payment.answered = payment.tries
        payment.status = STATUS_BY_OUTCOME[outcome] if payment.status in UNFINISHED_PAYMENT_STATES else payment.status
        application.version += 1


def _record_paid(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    _end_other_payments(session, payment)
    if application.status not in states.ACCEPTED_STATES:
        session.execute(_mark_paid_sql(application, payment, paid_at=func.now()))
        add_review(session, payment.id, APPLICATION_CLOSED, status=application.status)
        enqueue_all(build_email_jobs("application_paid", application, payment_id=payment.id))
        return
    next_status = states.get_outstanding_state(documents=application.documents_due, payment=False)
    status_changes = next_status != application.status
    status = states.check_step(application.status, next_status) if status_changes else next_status
    paid_sql = _mark_paid_sql(application, payment, status=status, paid_at=func.now())
    new_links: list[ApplicationLink] = []
    if status_changes and next_status == states.READY:
        renewal_sql = links.link_renewal_sql(application.id, [links.ACTIVATION]).add_cte(paid_sql.cte("written"))
        new_links = list(session.scalars(renewal_sql))
    else:
        session.execute(paid_sql)
    enqueue_all(
        [
            *build_email_jobs("application_paid", application, payment_id=payment.id),
            *build_activation_email_jobs(application, new_links),
        ]
    )


def _end_other_payments(session: ReadOrWriteSession, payment: StallPayment) -> None:
    """Ends the payment that runs beside this one: the database allows but one. Unanswered, it is asked on."""
    session.execute(
        update(StallPayment)
        .where(StallPayment.application_id == payment.application_id, StallPayment.id != payment.id)
        .where(StallPayment.status.in_(UNFINISHED_PAYMENT_STATES))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def _mark_paid_sql(application: Application, payment: StallPayment, **changes: Any) -> Any:
    """The one statement by which payment and application become paid; the payment that was read knows it at once."""
    values = {"status": "paid", "answered": StallPayment.tries, "paid_at": func.now()}
    payment_update = update(StallPayment).where(StallPayment.id == payment.id).values(values)
    set_committed_value(payment, "status", "paid")
    return (
        update(Application)
        .where(Application.id == application.id)
        .values(version=Application.version + 1, updated_at=func.now(), **changes)
        .add_cte(payment_update.cte("of_payment"))
        .execution_options(synchronize_session=False)
    )
