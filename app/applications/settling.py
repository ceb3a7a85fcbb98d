"""What the rail has said becomes what we know: one place for the answer to a code, for asking later and for operators.

A capture is recorded whenever it is heard, whatever has become of payment and application. Any other answer counts only
when it is final: `code_sent` after a confirmation says nothing, for the confirmation may still arrive.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm.attributes import set_committed_value

from app.applications import links, states
from app.applications.models import UNFINISHED, Application, ApplicationLink, StallPayment
from app.applications.payment import TRIES, unanswered
from app.applications.payment_reviews import (
    APPLICATION_CLOSED,
    CONTRADICTION,
    MISMATCH,
    SECOND_CAPTURE,
    add_detail,
    add_review,
)
from app.applications.progress import going_on, letter
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.outbox import enqueue, enqueue_all
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction

ASK_AFTER = timedelta(seconds=20)
"""Longer than a call to the rail may take, so that nobody asks while the answer is on its way."""
CURRENCY = "NAD"
ENDS = {Outcome.DECLINED: "declined", Outcome.EXPIRED: "expired", Outcome.REFUNDED: "expired"}


def ask(payment_id: str) -> StallPayment:
    """The payment after the rail was asked about it. No transaction may be open."""
    return settle(payment_id, rail().charge_status(payment_id))


def settle(payment_id: str, told: ChargeState) -> StallPayment:
    """The payment after the rail, or an operator, has told of it. Any number may say the same at once."""
    with transaction() as session:
        application, row = locked(session, payment_id)
        if told.outcome is Outcome.PAID:
            _captured(session, application, row, told)
        elif told.outcome is Outcome.WRONG_CODE:
            _wrong_code(session, application, row)
        elif told.outcome in ENDS:
            _ended(session, application, row, told.outcome)
    return row


def not_asked(payment_id: str) -> None:
    """Gives back a try that the rail surely never saw, and the code with it."""
    with transaction() as session:
        application, row = locked(session, payment_id)
        if row.status == "processing":
            row.status, row.tries = "otp_required", row.tries - 1
            application.version += 1


def reopen(session: ReadOrWriteSession, application: Application, row: StallPayment) -> None:
    """Makes a payment unanswered again: the money may have been taken after all, or another amount."""
    row.tries = max(row.tries, 1)
    row.answered = min(row.answered, row.tries - 1)
    if row.status != "processing" and application.paid_at is None:
        _end_others(session, row)
        row.status = "processing"
    application.version += 1


def locked(session: ReadOrWriteSession, payment_id: str) -> tuple[Application, StallPayment]:
    """A payment and its application, locked."""
    application, row = session.execute(
        select(Application, StallPayment)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id)
        # The application first, as everywhere: two orders of locking would wait for each other.
        .with_for_update(of=[Application, StallPayment])
        .execution_options(populate_existing=True)
    ).one()
    return application, row


def differs(row: StallPayment, amount_minor: int | None, currency: str | None) -> bool:
    """Whether somebody tells of another amount than ours."""
    return amount_minor not in (None, row.amount_minor) or currency not in (None, CURRENCY)


def _captured(session: ReadOrWriteSession, application: Application, row: StallPayment, told: ChargeState) -> None:
    if row.status == "paid" or row.captured_at is not None:
        row.answered = row.tries
    elif application.paid_at is not None:
        _captured_again(session, application, row, told)
    elif differs(row, told.amount_minor, told.currency):
        reopen(session, application, row)
        add_review(session, row.id, MISMATCH, amountMinor=told.amount_minor, currency=told.currency)
    else:
        _paid(session, application, row)


def _captured_again(
    session: ReadOrWriteSession, application: Application, row: StallPayment, told: ChargeState
) -> None:
    """Money that is not due any more: written down, given back where the rail can, and shown to a person."""
    row.captured_at, row.answered = func.now(), row.tries
    if row.status in UNFINISHED:
        row.status = "expired"
    application.version += 1
    taken = told.amount_minor or row.amount_minor
    add_review(session, row.id, SECOND_CAPTURE, amountMinor=taken, currency=told.currency or CURRENCY)
    enqueue("applications.refund_payment", payment_id=row.id)


def _wrong_code(session: ReadOrWriteSession, application: Application, row: StallPayment) -> None:
    row.answered = row.tries
    if row.status == "processing":
        row.status = "expired" if row.tries >= TRIES else "otp_required"
        application.version += 1


def _ended(session: ReadOrWriteSession, application: Application, row: StallPayment, outcome: Outcome) -> None:
    """No money is with us under this reference, and none will be."""
    if row.captured_at is not None and outcome is Outcome.REFUNDED:
        row.refunded_at = func.coalesce(StallPayment.refunded_at, func.now())
        add_detail(session, row.id, SECOND_CAPTURE, refund="refunded")
    elif row.status == "paid" or row.captured_at is not None:
        add_review(session, row.id, CONTRADICTION, status=row.status, told=outcome.value)
    elif unanswered(row) or row.status in UNFINISHED:
        row.answered = row.tries
        row.status = ENDS[outcome] if row.status in UNFINISHED else row.status
        application.version += 1


def _paid(session: ReadOrWriteSession, application: Application, row: StallPayment) -> None:
    _end_others(session, row)
    if application.status not in states.ACCEPTED:
        session.execute(_written(application, row, paid_at=func.now()))
        add_review(session, row.id, APPLICATION_CLOSED, status=application.status)
        enqueue_all(letter("application_paid", application, payment_id=row.id))
        return
    resting = states.outstanding(documents=application.documents_due, payment=False)
    goes_on = resting != application.status
    status = states.checked(application.status, resting) if goes_on else resting
    written = _written(application, row, status=status, paid_at=func.now())
    fresh: list[ApplicationLink] = []
    if goes_on and resting == states.READY:
        renewal = links.renewal(application.id, [links.ACTIVATION]).add_cte(written.cte("written"))
        fresh = list(session.scalars(renewal))
    else:
        session.execute(written)
    enqueue_all([*letter("application_paid", application, payment_id=row.id), *going_on(application, fresh)])


def _end_others(session: ReadOrWriteSession, row: StallPayment) -> None:
    """Ends the payment that runs beside this one: the database allows but one. Unanswered, it is asked on."""
    session.execute(
        update(StallPayment)
        .where(StallPayment.application_id == row.application_id, StallPayment.id != row.id)
        .where(StallPayment.status.in_(UNFINISHED))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def _written(application: Application, row: StallPayment, **changes: Any) -> Any:
    """The one statement by which payment and application become paid; the payment that was read knows it at once."""
    values = {"status": "paid", "answered": StallPayment.tries, "paid_at": func.now()}
    of_payment = update(StallPayment).where(StallPayment.id == row.id).values(values)
    set_committed_value(row, "status", "paid")
    return (
        update(Application)
        .where(Application.id == application.id)
        .values(version=Application.version + 1, updated_at=func.now(), **changes)
        .add_cte(of_payment.cte("of_payment"))
        .execution_options(synchronize_session=False)
    )
