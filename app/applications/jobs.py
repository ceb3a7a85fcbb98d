"""Jobs of applications: mails, deletion of files, outcomes of payments, refunds, reviews, and expiry."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Interval, exists, func, select, type_coerce, update

from app.accounts.languages import find_account_language
from app.accounts.outgoing_mail import find_verified_address, send_for_organisation
from app.accounts.queries import list_operator_ids
from app.applications import emails, waitlist
from app.applications.actions.document_requests import MAIL_TEMPLATE
from app.applications.document_requests import describe_requests
from app.applications.drafts import build_draft_url
from app.applications.fee_invoices import find_credit_note, load_fee_document
from app.applications.fee_refunds import refuse_refund
from app.applications.history import find_first_fee
from app.applications.models import Application, ApplicationDraft, StallFeeRefund, StallPayment
from app.applications.organiser_notes import build_organiser_note, build_refund_refused_email
from app.applications.payment_outcome import ChargeCallback, record_outcome, refresh_payment, verify_callback
from app.applications.stall_payments import (
    NO_OUTCOME,
    SECOND_CAPTURE,
    UNANSWERED_SQL,
    add_review,
    add_review_detail,
    is_unanswered,
)
from app.applications.states import ACCEPTED_STATES, EXPIRED, OPEN_STATES, REFUND_REQUESTED
from app.clients import storage
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.clients.payrail import ChargeState, Outcome, rail
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release_connection
from app.core.formatting import format_day
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.languages import use_language
from app.core.outbox import Outbox, enqueue, enqueue_many
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.queries import EVENT_COLUMNS
from app.merchants.notifications import may_send

REVIEW_AGE = timedelta(hours=72)
APPROVED_TEMPLATE = "application_approved"
DECISION_TEMPLATES = (
    APPROVED_TEMPLATE,
    "application_declined",
    "application_waitlisted",
    "application_place_offer",
    MAIL_TEMPLATE,
)
ANSWER_TEMPLATES = ("application_place_offer", MAIL_TEMPLATE)
"""Mails that nobody needs once their links have ended."""
PAID_TEMPLATE, REFUNDED_TEMPLATE = "application_paid", "application_refunded"
FEE_TEMPLATES = (APPROVED_TEMPLATE, "application_fee_due", "application_link")
RETRY_DELAYS = ((timedelta(minutes=1), 10), (timedelta(minutes=10), 60), (REVIEW_AGE, 900))


@job("applications.mail", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_applicant_email(
    run: Run,
    *,
    template: str,
    application_id: str,
    link_ids: list[str],
    path: str = "/",
    payment_id: str | None = None,
    address: str | None = None,
) -> None:
    """Mails an applicant, with the due links and the invoice or credit note of the fee. Skips an erased application.

    With `address` it goes to this address, or to nobody if that is no longer the applicant's. `path` is where the
    applicant goes after signing in. The earlier version named the payment in `payment_id`.
    """
    context = emails.load_email_context(application_id, link_ids)
    release_connection()
    if context is None or context.application.email is None or (template in ANSWER_TEMPLATES and not context.links):
        return
    if address not in (None, context.application.email):
        return
    is_accepted = context.application.status in ACCEPTED_STATES
    is_fee_due = is_accepted and context.application.payment_due and template in FEE_TEMPLATES
    invoice = load_fee_document(application_id) if is_fee_due or template == PAID_TEMPLATE else None
    if template == REFUNDED_TEMPLATE:
        invoice = find_credit_note(application_id)
    first_fee = find_first_fee(application_id) if template == APPROVED_TEMPLATE else None
    release_connection()
    with use_language(context.language):
        asked_again = describe_requests(application_id) if template == MAIL_TEMPLATE else []
        message = emails.build_applicant_email(
            template,
            context,
            key=run.key,
            path=path,
            invoice=invoice,
            asked_again=asked_again,
            first_fee_minor=first_fee,
        )
    release_connection()
    sender_id = context.application.organiser_id or context.application.decided_by
    if sender_id is not None:
        send_for_organisation(sender_id, message, run=run, already_counted=template in DECISION_TEMPLATES)


@job("applications.mail_draft", Delivery.AT_LEAST_ONCE, to_others=True)
def send_draft_email(run: Run, *, draft_id: str) -> None:
    """Mails the link of a draft to the address that was typed into the form, unless the form was sent meanwhile."""
    row = db.session.execute(
        select(ApplicationDraft, *EVENT_COLUMNS, Event.organiser_id)
        .join(Event, Event.id == ApplicationDraft.event_id)
        .where(ApplicationDraft.id == draft_id)
    ).first()
    if row is None:
        return
    draft: ApplicationDraft = row.ApplicationDraft
    with use_language(draft.language):
        message = render_email(
            "application_draft",
            to=draft.email,
            key=run.key,
            sender_name=row.organiser_name,
            event=row.event_name,
            until=format_day(draft.expires_at, row.timezone),
            url=build_draft_url(draft),
        )
    release_connection()
    send_for_organisation(row.organiser_id, message, run=run, already_counted=False)


@job("applications.mail_organiser", Delivery.AT_LEAST_ONCE)
def send_organiser_email(run: Run, *, application_id: str) -> None:
    """Mails the organiser that a merchant is ready, with the merchant's message."""
    context = emails.load_email_context(application_id, [])
    release_connection()
    if context is not None and context.event_context.owner_email is not None:
        reply_to = find_verified_address(context.application.account_id)
        with use_language(context.event_context.language):
            message = emails.build_organiser_email(context, reply_to=reply_to, key=run.key)
        release_connection()
        send(message, fence=run.fence)


@job("applications.mail_refund_refused", Delivery.AT_LEAST_ONCE)
def send_refund_refused_email(run: Run, *, application_id: str, account_id: str) -> None:
    """Mails one person of the organisation that the rail has refused a refund, unless it is settled meanwhile."""
    with use_language(find_account_language(account_id)):
        message = build_refund_refused_email(application_id, account_id, key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)


@job("applications.mail_new", Delivery.AT_LEAST_ONCE)
def send_organiser_note(run: Run, *, event_id: str, since: str, until: str | None) -> None:
    """Mails the organiser the new applications of an event, unless they have switched such mails off."""
    end = datetime.fromisoformat(until) if until else None
    message = build_organiser_note(event_id, datetime.fromisoformat(since), end, key=run.key)
    if message is not None and may_send("applications_new", message.to):
        release_connection()
        send(message, fence=run.fence)


@job("applications.delete_files", Delivery.AT_LEAST_ONCE)
def delete_files(run: Run, *, names: list[str]) -> None:
    """Deletes the files of replaced or erased documents; a missing file is not an error."""
    for name in names:
        storage.delete(name)


@job("applications.settle_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def check_payment_outcome(run: Run, *, payment_id: str) -> None:
    """Asks the rail for the outcome of an unanswered payment, until it is known. Adds a review after 72 hours."""
    age = type_coerce(func.now() - StallPayment.created_at, Interval)
    payment_row = db.session.execute(select(StallPayment, age).where(StallPayment.id == payment_id)).first()
    release_connection()
    if payment_row is None or not is_unanswered(payment_row[0]) or not is_unanswered(refresh_payment(payment_id)):
        return
    if payment_row[1] >= REVIEW_AGE:
        with transaction() as session:
            add_review(session, payment_id, NO_OUTCOME)
    raise Postpone(_get_retry_delay(payment_row[1]), "the rail has no final outcome yet")


@job("applications.weigh_callback", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100)
def verify_payment_callback(
    run: Run, *, event_id: str, payment_id: str, outcome: str, amount_minor: int, currency: str
) -> None:
    """Asks the rail about the payment of a callback. The callback itself is not trusted; it can only cause a review."""
    verify_callback(
        ChargeCallback(
            event_id=event_id,
            payment_id=payment_id,
            outcome=outcome,
            amount_minor=amount_minor,
            currency=currency,
        )
    )


@job("applications.refund_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def refund_payment(run: Run, *, payment_id: str) -> None:
    """Asks the rail to refund a fee that it took a second time. Repeated calls are one refund by their reference."""
    age = type_coerce(func.now() - StallPayment.captured_at, Interval)
    conditions = (StallPayment.id == payment_id, StallPayment.refunded_at.is_(None))
    capture_age = db.session.scalar(select(age).where(*conditions))
    release_connection()
    if capture_age is None:
        return
    charge_state = _request_refund(payment_id)
    if charge_state.outcome is Outcome.UNKNOWN and capture_age < REVIEW_AGE:
        raise Postpone(_get_retry_delay(capture_age), "the rail has not confirmed the refund yet")
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


@job("applications.refund_fee", Delivery.AT_LEAST_ONCE, max_attempts=40)
def refund_fee(run: Run, *, application_id: str) -> None:
    """Asks the rail to refund a paid fee, until the outcome is known. Adds a review after 72 hours."""
    age = type_coerce(func.now() - StallFeeRefund.recorded_at, Interval)
    requested_refund = (
        select(StallPayment.id, age)
        .join(StallFeeRefund, StallFeeRefund.application_id == StallPayment.application_id)
        .where(StallFeeRefund.application_id == application_id, StallFeeRefund.status == REFUND_REQUESTED)
        .where(StallPayment.status == "paid")
    )
    row = db.session.execute(requested_refund).first()
    release_connection()
    if row is None:
        return
    payment_id, refund_age = row
    charge_state = _request_refund(payment_id)
    if charge_state.outcome is Outcome.UNKNOWN:
        if refund_age >= REVIEW_AGE:
            with transaction() as session:
                add_review(session, payment_id, NO_OUTCOME)
        raise Postpone(_get_retry_delay(refund_age), "the rail has not confirmed the refund yet")
    if charge_state.outcome is Outcome.REFUNDED:
        record_outcome(payment_id, charge_state)
        return
    with transaction() as session:
        refuse_refund(session, session.get_one(Application, application_id, with_for_update=True))


def _request_refund(payment_id: str) -> ChargeState:
    try:
        return rail().refund_charge(payment_id)
    except PayrailDisabled:
        return ChargeState(outcome=Outcome.UNKNOWN)


@job("applications.watch_payments", Delivery.LOCAL, every=timedelta(minutes=1))
def requeue_unanswered_payments(run: Run) -> None:
    """Enqueues the questions again for unanswered payments and refunds whose job ended, because its processes died too
    often."""
    with transaction() as session:
        run.done_in(session)
        has_check = _has_active_job_sql("stall-payment:" + StallPayment.id)
        for payment_id in session.scalars(select(StallPayment.id).where(UNANSWERED_SQL, ~has_check)).all():
            enqueue("applications.settle_payment", aggregate=f"stall-payment:{payment_id}", payment_id=payment_id)
        has_request = _has_active_job_sql("stall-fee-refund:" + StallFeeRefund.application_id)
        lost_refunds = select(StallFeeRefund.application_id).where(
            StallFeeRefund.status == REFUND_REQUESTED, ~has_request
        )
        for id in session.scalars(lost_refunds).all():
            enqueue("applications.refund_fee", aggregate=f"stall-fee-refund:{id}", application_id=id)


def _has_active_job_sql(aggregate: ColumnElement[str]) -> ColumnElement[bool]:
    return exists().where(Outbox.aggregate == aggregate, Outbox.state.in_(("ready", "leased")))


@job("applications.notify_operators", Delivery.LOCAL)
def notify_operators(run: Run, *, review_id: int) -> None:
    """Enqueues the mails about a review to all operators."""
    with transaction() as session:
        run.done_in(session)
        rows = [
            (f"review:{review_id}:{operator_id}", {"review_id": review_id, "account_id": operator_id})
            for operator_id in list_operator_ids(session)
        ]
        enqueue_many("applications.mail_operator", rows)


@job("applications.mail_operator", Delivery.AT_LEAST_ONCE)
def send_operator_email(run: Run, *, review_id: int, account_id: str) -> None:
    """Mails one operator about a review."""
    message = emails.build_operator_email(review_id, account_id, key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)


@job("applications.expire", Delivery.LOCAL, every=timedelta(hours=1))
def expire_applications(run: Run) -> None:
    """Expires applications for events that are over, and with them their links.

    An application with an unanswered payment is left until the outcome is known.
    """
    with transaction() as session:
        run.done_in(session)
        event_over_query = (
            select(Application.id).join(Event, Event.id == Application.event_id).where(Event.ends_at < func.now())
        )
        # Locked before their payments are read, so that no payment is confirmed meanwhile.
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


@job("applications.offer_places", Delivery.LOCAL, every=timedelta(minutes=1))
def offer_places(run: Run, *, event_id: str | None = None) -> None:
    """Offers free places to the next in line, of one event or of all. Offers that were not answered in time end first."""
    while waitlist.lapse_offers() == waitlist.LAPSED_PER_RUN:
        pass
    for waiting_event_id, stall_type in waitlist.list_waiting_types(event_id):
        while waitlist.offer_next_place(waiting_event_id, stall_type):
            pass
    with transaction() as session:
        run.done_in(session)


def _get_retry_delay(age: timedelta) -> timedelta:
    """The delay before the rail is asked again; it grows with the payment's age, up to an hour."""
    return timedelta(seconds=next((seconds for max_age, seconds in RETRY_DELAYS if age < max_age), 3600))
