"""Mail of applications, payments whose outcome is still open, and applications that have expired."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import exists, func, select, update

from app.accounts.outgoing_mail import find_verified_address, send_for_account
from app.accounts.queries import list_operator_ids
from app.applications import callbacks, emails
from app.applications.models import Application, StallPayment
from app.applications.payment_outcome import record_outcome, refresh_payment
from app.applications.payment_reviews import NO_OUTCOME, SECOND_CAPTURE, add_review, add_review_detail
from app.applications.receipt_pdf import draw_receipt
from app.applications.stall_payments import UNANSWERED_SQL, is_unanswered
from app.applications.states import EXPIRED, OPEN_STATES
from app.clients import storage
from app.clients.mail import Attachment, send
from app.clients.payrail import ChargeState, Outcome, rail
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release_connection
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.outbox import Outbox, enqueue, enqueue_many
from app.core.transaction import transaction
from app.events.models import Event

REVIEW_AGE = timedelta(hours=72)
DECISION_TEMPLATES = ("application_approved", "application_declined")
RETRY_DELAYS = ((timedelta(minutes=1), 10), (timedelta(minutes=10), 60), (REVIEW_AGE, 900))


@job("applications.mail", Delivery.AT_LEAST_ONCE, to_others=True)
def send_applicant_email(run: Run, *, template: str, application_id: str, link_ids: list[str], **more: Any) -> None:
    """Tells an applicant how their application stands, with the links that are due. An erased one has no address."""
    context = emails.load_email_context(application_id, link_ids)
    release_connection()
    if context is None or context.application.email is None:
        return
    payment_id = more.pop("payment_id", None)
    message = emails.build_applicant_email(template, context, key=run.key, **more)
    if payment_id is not None:
        pdf = Attachment(f"Receipt {context.application.reference}.pdf", draw_receipt(context), "application/pdf")
        message = replace(message, attachments=(pdf,))
    sender_id = context.application.organiser_id or context.application.decided_by
    if sender_id is not None:
        send_for_account(sender_id, message, run=run, already_counted=template in DECISION_TEMPLATES)


@job("applications.mail_organiser", Delivery.AT_LEAST_ONCE)
def send_organiser_email(run: Run, *, application_id: str) -> None:
    """Tells the organiser that a merchant is ready, with what they wrote."""
    context = emails.load_email_context(application_id, [])
    release_connection()
    if context is not None and context.event_context.contact is not None:
        reply_to = find_verified_address(context.application.account_id)
        send(emails.build_organiser_email(context, reply_to=reply_to, key=run.key), fence=run.fence)


@job("applications.delete_files", Delivery.AT_LEAST_ONCE)
def delete_files(run: Run, *, names: list[str]) -> None:
    """Removes the files of documents that others have replaced; those that are gone are no matter."""
    for name in names:
        storage.delete(name)


@job("applications.settle_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def check_payment_outcome(run: Run, *, payment_id: str) -> None:
    """Asks the rail how a payment ended whose confirmation it has not answered, until that is known."""
    age: Any = func.now() - StallPayment.created_at
    payment_row = db.session.execute(select(StallPayment, age).where(StallPayment.id == payment_id)).first()
    release_connection()
    if payment_row is None or not is_unanswered(payment_row[0]) or not is_unanswered(refresh_payment(payment_id)):
        return
    if payment_row[1] >= REVIEW_AGE:
        with transaction() as session:
            add_review(session, payment_id, NO_OUTCOME)
    raise Postpone(_get_retry_delay(payment_row[1]), "the rail has no final answer yet")


@job("applications.weigh_callback", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100)
def verify_payment_callback(run: Run, **event: Any) -> None:
    """Asks the rail at once, because it called. What the call itself said counts for nothing but a review."""
    callbacks.verify_callback(callbacks.ChargeCallback(**event))


@job("applications.refund_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def refund_payment(run: Run, *, payment_id: str) -> None:
    """Has the rail give back what it took although the fee was paid. The reference makes it one refund."""
    age: Any = func.now() - StallPayment.captured_at
    conditions = (StallPayment.id == payment_id, StallPayment.refunded_at.is_(None))
    capture_age = db.session.scalar(select(age).where(*conditions))
    release_connection()
    if capture_age is None:
        return
    try:
        charge_state = rail().refund_charge(payment_id)
    except PayrailDisabled:
        charge_state = ChargeState(outcome=Outcome.UNKNOWN)
    if charge_state.outcome is Outcome.UNKNOWN and capture_age < REVIEW_AGE:
        raise Postpone(_get_retry_delay(capture_age), "the rail has not said whether the money is back")
    if charge_state.outcome is Outcome.REFUNDED:
        record_outcome(payment_id, charge_state)
        return
    with transaction() as session:
        add_review_detail(
            session,
            payment_id,
            SECOND_CAPTURE,
            refund="unknown" if charge_state.outcome is Outcome.UNKNOWN else "refused",
        )


@job("applications.watch_payments", Delivery.LOCAL, every=timedelta(minutes=1))
def requeue_unanswered_payments(run: Run) -> None:
    """Gives a new job to payments without an outcome whose own was lost: their processes died too often."""
    with transaction() as session:
        run.done_in(session)
        aggregate = "stall-payment:" + StallPayment.id
        has_active_job = exists().where(Outbox.aggregate == aggregate, Outbox.state.in_(("ready", "leased")))
        for payment_id in session.scalars(select(StallPayment.id).where(UNANSWERED_SQL, ~has_active_job)).all():
            enqueue("applications.settle_payment", aggregate=f"stall-payment:{payment_id}", payment_id=payment_id)


@job("applications.notify_operators", Delivery.LOCAL)
def notify_operators(run: Run, *, review_id: int) -> None:
    """Has every operator mailed about a review."""
    with transaction() as session:
        run.done_in(session)
        rows = [
            (f"review:{review_id}:{operator_id}", {"review_id": review_id, "account_id": operator_id})
            for operator_id in list_operator_ids(session)
        ]
        enqueue_many("applications.mail_operator", rows)


@job("applications.mail_operator", Delivery.AT_LEAST_ONCE)
def send_operator_email(run: Run, *, review_id: int, account_id: str) -> None:
    """Tells one operator what they have to look at."""
    message = emails.build_operator_email(review_id, account_id, key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)


@job("applications.expire", Delivery.LOCAL, every=timedelta(hours=1))
def expire_applications(run: Run) -> None:
    """Ends applications for events that are over; their links end with them. One whose payment has no outcome yet
    waits for it."""
    with transaction() as session:
        run.done_in(session)
        event_over_query = (
            select(Application.id).join(Event, Event.id == Application.event_id).where(Event.ends_at < func.now())
        )
        # Locked first and looked at then: nobody confirms a payment meanwhile.
        locked_ids = session.scalars(
            event_over_query.where(Application.status.in_(OPEN_STATES)).with_for_update(of=Application)
        ).all()
        unanswered_query = select(StallPayment.application_id).where(UNANSWERED_SQL)
        expired_ids = session.scalars(
            update(Application)
            .where(Application.id.in_(locked_ids), Application.id.not_in(unanswered_query))
            .values(status=EXPIRED, version=Application.version + 1, updated_at=func.now())
            .returning(Application.id)
            .execution_options(synchronize_session=False)
        ).all()
        session.execute(
            update(StallPayment)
            .where(StallPayment.application_id.in_(expired_ids), StallPayment.status.in_(("starting", "otp_required")))
            .values(status="expired")
            .execution_options(synchronize_session=False)
        )


def _get_retry_delay(age: timedelta) -> timedelta:
    """How long to wait before the rail is asked again: ever longer, and never for good."""
    return timedelta(seconds=next((seconds for max_age, seconds in RETRY_DELAYS if age < max_age), 3600))
