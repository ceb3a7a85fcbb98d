"""Recording of a payment's outcome: after a code, a status check or a callback, and for operators.

A capture is always recorded, whatever the state of payment and application. Any other outcome counts only if it is
final: `code_sent` after a confirmation is not, because the confirmation may still arrive.

Each callback about a charge makes the service ask the rail, unless the payment is paid. A callback that the rail does
not confirm makes a review, and so does one with a different amount (docs/decisions/payrail-callbacks.md).
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Update, func, select, update
from sqlalchemy.orm.attributes import set_committed_value

from app.applications import links, states
from app.applications.emails import build_activation_email_jobs, build_email_jobs
from app.applications.fee_bookings import book_fee
from app.applications.fee_refunds import complete_refund, find_requested_refund
from app.applications.models import UNFINISHED_PAYMENT_STATES, Application, ApplicationLink, StallPayment
from app.applications.queries import record_application_act
from app.applications.stall_payments import (
    APPLICATION_CLOSED,
    CONTRADICTION,
    MAX_TRIES,
    MISMATCH,
    SECOND_CAPTURE,
    UNKNOWN_REFERENCE,
    add_review,
    add_review_detail,
    is_unanswered,
)
from app.audit.actions import Action
from app.clients.payrail import ChargeState, Outcome, rail
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.outbox import enqueue, enqueue_all
from app.core.transaction import transaction
from app.ledger.models import RAIL_CLEARING

STATUS_CHECK_DELAY = timedelta(seconds=20)
"""Longer than the timeout of a call to the rail, so that no worker asks while the call is still running."""
CURRENCY = "NAD"
STATUS_BY_OUTCOME = {Outcome.DECLINED: "declined", Outcome.EXPIRED: "expired", Outcome.REFUNDED: "expired"}


@dataclass(frozen=True, kw_only=True)
class ChargeCallback:
    """A signed callback about a charge; the reference is the payment's id."""

    event_id: str
    payment_id: str
    outcome: str
    amount_minor: int
    currency: str

    @property
    def detail(self) -> dict[str, object]:
        """The facts for a review."""
        return {
            "event_id": self.event_id,
            "outcome": self.outcome,
            "amount_minor": self.amount_minor,
            "currency": self.currency,
        }


def refresh_payment(payment_id: str) -> StallPayment:
    """Asks the rail and returns the payment with the outcome. No transaction may be open."""
    return record_outcome(payment_id, rail().charge_status(payment_id))


def record_outcome(payment_id: str, charge_state: ChargeState) -> StallPayment:
    """Records an outcome from the rail or an operator and returns the payment. Concurrent calls are safe."""
    with transaction() as session:
        application, payment = _lock_payment(session, payment_id)
        if charge_state.outcome is Outcome.PAID:
            _record_capture(session, application, payment, charge_state)
        elif charge_state.outcome is Outcome.WRONG_CODE:
            _record_wrong_code(session, application, payment)
        elif charge_state.outcome in STATUS_BY_OUTCOME:
            _record_end(session, application, payment, charge_state.outcome)
    return payment


def restore_try(payment_id: str) -> None:
    """Takes back a try that certainly did not reach the rail, so that the code can be used again."""
    with transaction() as session:
        application, payment = _lock_payment(session, payment_id)
        if payment.status == "processing":
            payment.status, payment.tries = "otp_required", payment.tries - 1
            application.version += 1


def verify_callback(callback: ChargeCallback) -> None:
    """Asks the rail about the payment of a callback, and adds a review if the callback contradicts the outcome."""
    payment = db.session.get(StallPayment, callback.payment_id, populate_existing=True)
    release_connection()
    if payment is None:
        with transaction() as session:
            add_review(session, callback.payment_id, UNKNOWN_REFERENCE, **callback.detail)
        return
    charge_state = ChargeState(outcome=Outcome.PAID)
    if payment.status != "paid":
        charge_state = rail().charge_status(callback.payment_id)
        record_outcome(callback.payment_id, charge_state)
    with transaction() as session:
        _review_contradictions(session, callback, charge_state)


def _reopen_payment(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    """Makes a payment unanswered again, because its money, or a different amount, may have been taken."""
    payment.tries = max(payment.tries, 1)
    payment.answered = min(payment.answered, payment.tries - 1)
    if payment.status != "processing" and application.payment_due:
        _end_other_payments(session, payment)
        payment.status = "processing"
    application.version += 1


def _lock_payment(session: ReadOrWriteSession, payment_id: str) -> tuple[Application, StallPayment]:
    """The application and the payment, locked."""
    application, payment = session.execute(
        select(Application, StallPayment)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id)
        # The application is locked first, as everywhere: a different order would cause deadlocks.
        .with_for_update(of=[Application, StallPayment])
        .execution_options(populate_existing=True)
    ).one()
    return application, payment


def _has_different_amount(payment: StallPayment, amount_minor: int | None, currency: str | None) -> bool:
    """Whether a reported amount or currency differs from the payment's; None is not reported."""
    return amount_minor not in (None, payment.amount_minor) or currency not in (None, CURRENCY)


def _record_capture(
    session: ReadOrWriteSession, application: Application, payment: StallPayment, charge_state: ChargeState
) -> None:
    if payment.status == "paid" or payment.captured_at is not None:
        payment.answered = payment.tries
    elif not application.payment_due or payment.amount_minor != application.amount_minor:
        _record_second_capture(session, application, payment, charge_state)
    elif _has_different_amount(payment, charge_state.amount_minor, charge_state.currency):
        _reopen_payment(session, application, payment)
        add_review(
            session, payment.id, MISMATCH, amount_minor=charge_state.amount_minor, currency=charge_state.currency
        )
    else:
        _record_paid(session, application, payment)


def _record_second_capture(
    session: ReadOrWriteSession, application: Application, payment: StallPayment, charge_state: ChargeState
) -> None:
    """Records money that is no longer due, adds a review, and enqueues the refund."""
    payment.captured_at, payment.answered = func.now(), payment.tries
    if payment.status in UNFINISHED_PAYMENT_STATES:
        payment.status = "expired"
    application.version += 1
    captured_minor = charge_state.amount_minor or payment.amount_minor
    add_review(
        session, payment.id, SECOND_CAPTURE, amount_minor=captured_minor, currency=charge_state.currency or CURRENCY
    )
    enqueue("applications.refund_payment", payment_id=payment.id)


def _record_wrong_code(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    payment.answered = payment.tries
    if payment.status == "processing":
        payment.status = "expired" if payment.tries >= MAX_TRIES else "otp_required"
        application.version += 1


def _record_end(session: ReadOrWriteSession, application: Application, payment: StallPayment, outcome: Outcome) -> None:
    """Records an outcome by which no money is taken under this reference, or all of it was given back."""
    was_refunded = payment.status == "paid" and outcome is Outcome.REFUNDED
    refund = find_requested_refund(session, application.id) if was_refunded else None
    if payment.captured_at is not None and outcome is Outcome.REFUNDED:
        payment.refunded_at = func.coalesce(StallPayment.refunded_at, func.now())
        add_review_detail(session, payment.id, SECOND_CAPTURE, refund="refunded")
    elif payment.status == "paid" and outcome is Outcome.REFUNDED and payment.refunded_at is not None:
        return
    elif refund is not None:
        payment.refunded_at = func.now()
        complete_refund(session, application, refund)
    elif payment.status == "paid" or payment.captured_at is not None:
        add_review(session, payment.id, CONTRADICTION, status=payment.status, outcome=outcome.value)
    elif is_unanswered(payment) or payment.status in UNFINISHED_PAYMENT_STATES:
        payment.answered = payment.tries
        payment.status = STATUS_BY_OUTCOME[outcome] if payment.status in UNFINISHED_PAYMENT_STATES else payment.status
        application.version += 1


def _record_paid(session: ReadOrWriteSession, application: Application, payment: StallPayment) -> None:
    _end_other_payments(session, payment)
    book_fee(application, RAIL_CLEARING)
    record_application_act(
        session, Action.STALL_FEE_PAID, application, payment=payment.id, amountMinor=payment.amount_minor
    )
    if application.status not in states.ACCEPTED_STATES:
        session.execute(_mark_paid_sql(application, payment))
        add_review(session, payment.id, APPLICATION_CLOSED, status=application.status)
        enqueue_all(build_email_jobs("application_paid", application))
        return
    next_status = states.get_outstanding_state(documents=application.documents_due, payment=False)
    status_changes = next_status != application.status
    status = states.check_step(application.status, next_status) if status_changes else next_status
    paid_sql = _mark_paid_sql(application, payment, status=status)
    new_links: list[ApplicationLink] = []
    if status_changes and next_status == states.READY and application.account_id is not None:
        session.execute(paid_sql)
        session.refresh(application)
        if not links.activate_known_merchant(session, application):
            new_links = links.renew_links(session, application, [links.ACTIVATION])
    elif status_changes and next_status == states.READY:
        renewal_sql = links.link_renewal_sql(application.id, {links.ACTIVATION: None}).add_cte(
            paid_sql.cte("application_update")
        )
        new_links = list(session.scalars(renewal_sql))
    else:
        session.execute(paid_sql)
    enqueue_all(
        [
            *build_email_jobs("application_paid", application),
            *build_activation_email_jobs(application, new_links),
        ]
    )


def _end_other_payments(session: ReadOrWriteSession, payment: StallPayment) -> None:
    """Ends another running payment of the application, as the database allows only one. Its status checks go on."""
    session.execute(
        update(StallPayment)
        .where(StallPayment.application_id == payment.application_id, StallPayment.id != payment.id)
        .where(StallPayment.status.in_(UNFINISHED_PAYMENT_STATES))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def _mark_paid_sql(application: Application, payment: StallPayment, *, status: str | None = None) -> Update:
    """One statement that marks payment and application as paid, and sets the application's status if given.

    The loaded `payment` gets its new status here.
    """
    payment_update = (
        update(StallPayment)
        .where(StallPayment.id == payment.id)
        .values(status="paid", answered=StallPayment.tries, paid_at=func.now())
    )
    set_committed_value(payment, "status", "paid")
    return (
        update(Application)
        .where(Application.id == application.id)
        .values(
            version=Application.version + 1,
            updated_at=func.now(),
            paid_at=func.now(),
            **({"status": status} if status else {}),
        )
        .add_cte(payment_update.cte("payment_update"))
        .execution_options(synchronize_session=False)
    )


def _review_contradictions(session: ReadOrWriteSession, callback: ChargeCallback, charge_state: ChargeState) -> None:
    """Adds a review of a contradiction, and reopens the payment if its money may have been taken."""
    application, payment = _lock_payment(session, callback.payment_id)
    if _has_different_amount(payment, callback.amount_minor, callback.currency):
        add_review(session, payment.id, MISMATCH, **callback.detail)
    elif callback.outcome == Outcome.REFUNDED and find_requested_refund(session, application.id) is not None:
        return  # The job that asked for it finds the outcome.
    elif not _is_consistent(payment, callback.outcome):
        add_review(
            session,
            payment.id,
            CONTRADICTION,
            status=payment.status,
            rail=charge_state.outcome.value,
            **callback.detail,
        )
        if callback.outcome == Outcome.PAID and charge_state.outcome in (Outcome.UNKNOWN, Outcome.CODE_SENT):
            _reopen_payment(session, application, payment)


def _is_consistent(payment: StallPayment, outcome: str) -> bool:
    """Whether a callback's outcome fits the payment as it is after the rail was asked."""
    is_captured = payment.status == "paid" or payment.captured_at is not None
    if is_unanswered(payment):
        return True
    if outcome == Outcome.PAID:
        return is_captured
    if outcome == Outcome.REFUNDED:
        return payment.refunded_at is not None
    return not is_captured
