"""Mail of applications, payments whose outcome is still open, and applications that have had their time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import exists, func, select, update

from app.accounts.outgoing_mail import find_verified_address, send_for_account
from app.accounts.queries import list_operator_ids
from app.applications import callbacks, letters
from app.applications.models import Application, StallPayment
from app.applications.payment import UNANSWERED, unanswered
from app.applications.payment_reviews import NO_OUTCOME, SECOND_CAPTURE, add_detail, add_review
from app.applications.receipt import receipt_pdf
from app.applications.settling import ask, settle
from app.applications.states import EXPIRED, OPEN
from app.clients import storage
from app.clients.mail import Attachment, send
from app.clients.payrail import ChargeState, Outcome, rail
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.outbox import Outbox, enqueue, enqueue_many
from app.core.transaction import transaction
from app.events.models import Event

GIVE_UP_AFTER = timedelta(hours=72)
DECISIONS = ("application_approved", "application_declined")
PAUSES = ((timedelta(minutes=1), 10), (timedelta(minutes=10), 60), (GIVE_UP_AFTER, 900))


@job("applications.mail", Delivery.AT_LEAST_ONCE, to_others=True)
def mail(run: Run, *, template: str, application_id: str, link_ids: list[str], **more: Any) -> None:
    """Tells an applicant how their application stands, with the links that are due. An erased one has no address."""
    told = letters.about(application_id, link_ids)
    release()
    if told is None or told.application.email is None:
        return
    payment_id = more.pop("payment_id", None)
    message = letters.to_applicant(template, told, key=run.key, **more)
    if payment_id is not None:
        pdf = Attachment(f"Receipt {told.application.reference}.pdf", receipt_pdf(told), "application/pdf")
        message = replace(message, attachments=(pdf,))
    sender_id = told.application.organiser_id or told.application.decided_by
    if sender_id is not None:
        send_for_account(sender_id, message, run=run, already_counted=template in DECISIONS)


@job("applications.mail_organiser", Delivery.AT_LEAST_ONCE)
def mail_organiser(run: Run, *, application_id: str) -> None:
    """Tells the organiser that a merchant is ready, with what he wrote."""
    told = letters.about(application_id, [])
    release()
    if told is not None and told.around.contact is not None:
        reply_to = find_verified_address(told.application.account_id)
        send(letters.to_organiser(told, reply_to=reply_to, key=run.key), fence=run.fence)


@job("applications.delete_files", Delivery.AT_LEAST_ONCE)
def delete_files(run: Run, *, names: list[str]) -> None:
    """Removes the files of documents that others have replaced; those that are gone are no matter."""
    for name in names:
        storage.delete(name)


@job("applications.settle_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def settle_payment(run: Run, *, payment_id: str) -> None:
    """Asks the rail how a payment ended whose confirmation it has not answered, until that is known."""
    age: Any = func.now() - StallPayment.created_at
    row = db.session.execute(select(StallPayment, age).where(StallPayment.id == payment_id)).first()
    release()
    if row is None or not unanswered(row[0]) or not unanswered(ask(payment_id)):
        return
    if row[1] >= GIVE_UP_AFTER:
        with transaction() as session:
            add_review(session, payment_id, NO_OUTCOME)
    raise Postpone(_pause(row[1]), "the rail has no final answer yet")


@job("applications.weigh_callback", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100)
def weigh_callback(run: Run, **event: Any) -> None:
    """Asks the rail at once, because it called. What the call itself said counts for nothing but a review."""
    callbacks.weigh(callbacks.Heard(**event))


@job("applications.refund_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def refund_payment(run: Run, *, payment_id: str) -> None:
    """Has the rail give back what it took although the fee was paid. The reference makes it one refund."""
    age: Any = func.now() - StallPayment.captured_at
    open_refund = (StallPayment.id == payment_id, StallPayment.refunded_at.is_(None))
    since = db.session.scalar(select(age).where(*open_refund))
    release()
    if since is None:
        return
    try:
        told = rail().refund_charge(payment_id)
    except PayrailDisabled:
        told = ChargeState(outcome=Outcome.UNKNOWN)
    if told.outcome is Outcome.UNKNOWN and since < GIVE_UP_AFTER:
        raise Postpone(_pause(since), "the rail has not said whether the money is back")
    if told.outcome is Outcome.REFUNDED:
        settle(payment_id, told)
        return
    with transaction() as session:
        add_detail(
            session, payment_id, SECOND_CAPTURE, refund="unknown" if told.outcome is Outcome.UNKNOWN else "refused"
        )


@job("applications.watch_payments", Delivery.LOCAL, every=timedelta(minutes=1))
def watch_payments(run: Run) -> None:
    """Gives a new job to payments without an outcome whose own was lost: their processes died too often."""
    with transaction() as session:
        run.done_in(session)
        name = "stall-payment:" + StallPayment.id
        living = exists().where(Outbox.aggregate == name, Outbox.state.in_(("ready", "leased")))
        for payment_id in session.scalars(select(StallPayment.id).where(UNANSWERED, ~living)).all():
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
def mail_operator(run: Run, *, review_id: int, account_id: str) -> None:
    """Tells one operator what they have to look at."""
    message = letters.to_operator(review_id, account_id, key=run.key)
    release()
    if message is not None:
        send(message, fence=run.fence)


@job("applications.expire", Delivery.LOCAL, every=timedelta(hours=1))
def expire(run: Run) -> None:
    """Ends applications for events that are over; their links end with them. One whose payment has no outcome yet
    waits for it."""
    with transaction() as session:
        run.done_in(session)
        over = select(Application.id).join(Event, Event.id == Application.event_id).where(Event.ends_at < func.now())
        # Locked first and looked at then: nobody confirms a payment meanwhile.
        due = session.scalars(over.where(Application.status.in_(OPEN)).with_for_update(of=Application)).all()
        waiting = select(StallPayment.application_id).where(UNANSWERED)
        ended = session.scalars(
            update(Application)
            .where(Application.id.in_(due), Application.id.not_in(waiting))
            .values(status=EXPIRED, version=Application.version + 1, updated_at=func.now())
            .returning(Application.id)
            .execution_options(synchronize_session=False)
        ).all()
        session.execute(
            update(StallPayment)
            .where(StallPayment.application_id.in_(ended), StallPayment.status.in_(("starting", "otp_required")))
            .values(status="expired")
            .execution_options(synchronize_session=False)
        )


def _pause(age: timedelta) -> timedelta:
    """How long to wait before the rail is asked again: ever longer, and never for good."""
    return timedelta(seconds=next((seconds for until, seconds in PAUSES if age < until), 3600))
