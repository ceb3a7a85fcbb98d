"""Payment of the stall fee: start a charge, for which the rail sends a code, and confirm it with the code.

The rail is called between transactions.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, Update, func, insert, literal, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from app.applications import links, stall_payments, states
from app.applications.errors import (
    NothingDue,
    OtpWrong,
    PaymentDeclined,
    PaymentExpired,
    PaymentInProgress,
    PaymentNotStarted,
)
from app.applications.links import ResolvedLink
from app.applications.models import Application, StallPayment
from app.applications.open_events import can_go_on_sql, check_event_open
from app.applications.payment_outcome import STATUS_CHECK_DELAY, record_outcome, refresh_payment, restore_try
from app.applications.stall_payments import MAX_TRIES, CurrentPayment, PaymentStatus
from app.clients.payrail import Charge, ChargeState, Outcome, rail
from app.clients.payrail.errors import PayrailUnavailable
from app.core.db import ReadOrWriteSession, release_connection
from app.core.errors import AppError, ValidationFailed
from app.core.ids import new_id
from app.core.languages import find_page_language, mark_for_translation
from app.core.outbox import enqueue
from app.core.transaction import transaction

ENDED_OUTCOMES = (Outcome.EXPIRED, Outcome.PAID, Outcome.REFUNDED)
EXECUTION_OPTIONS = {"populate_existing": True, "synchronize_session": False}


def start_payment(*, token: str, payrail_msisdn: str | None = None) -> PaymentStatus:
    """Starts a payment: the rail sends a code to the wallet. A payment that is paid or waits for its code is returned.

    A different wallet ends a payment that waits for its code and starts a new one. Before a new payment starts, the
    rail is asked about every unanswered one. Raises NotFound, LinkExpired, NothingDue, PaymentInProgress, Throttled,
    ValidationFailed without any wallet, ApplicationsClosed if the event is over or cancelled, PaymentDeclined,
    PayrailDisabled, PayrailUnavailable.
    """
    while True:
        resolved_link, current_payment, charge = _reserve_payment(token, payrail_msisdn)
        if charge is not None:
            charge_state = rail().start_charge(charge)
            if charge_state.outcome not in ENDED_OUTCOMES:
                return _record_start(resolved_link.application, charge, charge_state.outcome)
            # An interrupted start of long ago, whose charge the rail has ended meanwhile.
            record_outcome(charge.reference, charge_state)
            continue
        assert current_payment is not None
        if current_payment.status != "processing":
            return stall_payments.build_payment_status(resolved_link.application, current_payment)
        # Each iteration resolves one unanswered payment, or ends the loop.
        if stall_payments.is_unanswered(refresh_payment(current_payment.stall_payment.id)):
            raise PaymentInProgress(payment_id=current_payment.stall_payment.id)


def _reserve_payment(token: str, msisdn: str | None) -> tuple[ResolvedLink, CurrentPayment | None, Charge | None]:
    """The link, its current payment, and the charge to start, if there is one."""
    with transaction() as session:
        resolved_link = links.get_active_link(token, links.PAYMENT, session=session)
        current_payment = stall_payments.find_current_payment(resolved_link.application.id, session)
        is_reusable = _is_reusable(current_payment, msisdn)
        if current_payment is None or not is_reusable:
            stall_payment = _insert_payment(session, resolved_link, msisdn, previous_payment=current_payment)
        else:
            if current_payment.status == "starting":
                _check_wallet_accepted(resolved_link)
            if current_payment.status in ("starting", "otp_required"):
                check_event_open(session, resolved_link.application)
            if current_payment.status != "starting":
                return resolved_link, current_payment, None
            stall_payment = current_payment.stall_payment
        charge = Charge(
            reference=stall_payment.id,
            amount_minor=stall_payment.amount_minor,
            msisdn=stall_payment.msisdn,
            description=f"Stall fee {resolved_link.application.reference}",
        )
        return resolved_link, current_payment, charge


def verify_otp(*, token: str, code: str) -> PaymentStatus:
    """Confirms the running payment with the code; the status is `processing` until the outcome is final.

    Raises NotFound, LinkExpired, OtpWrong with the tries left, PaymentExpired, PaymentDeclined, PaymentNotStarted,
    PaymentInProgress, ApplicationsClosed if the event is over or cancelled meanwhile, PayrailDisabled and
    PayrailUnavailable, after which the same code may be tried again.
    """
    for _ in range(MAX_TRIES + 1):
        resolved_link, current_payment = stall_payments.get_link_with_payment(token)
        if current_payment is None or current_payment.status != "otp_required":
            return _get_status_without_code(resolved_link, current_payment)
        if _mark_processing(resolved_link.application, current_payment):
            return _confirm_payment(token, resolved_link, current_payment, code)
        # Another request was faster with a wrong code, so the payment may wait for its code again.
    raise PaymentInProgress()


def _confirm_payment(
    token: str, resolved_link: ResolvedLink, current_payment: CurrentPayment, code: str
) -> PaymentStatus:
    """The status of the payment after this code. Raises OtpWrong, PaymentDeclined, PaymentExpired."""
    charge_state = _confirm_charge(current_payment.stall_payment.id, code)
    stall_payment = record_outcome(current_payment.stall_payment.id, charge_state)
    if charge_state.outcome is Outcome.WRONG_CODE and stall_payment.status != "paid":
        raise OtpWrong(tries_left=MAX_TRIES - stall_payment.tries)
    if stall_payment.status in ("declined", "expired"):
        return _get_status_without_code(*stall_payments.get_link_with_payment(token))
    return stall_payments.build_payment_status(resolved_link.application, CurrentPayment(stall_payment, 0))


def _mark_processing(application: Application, current_payment: CurrentPayment) -> bool:
    """Counts a try and sets the payment to `processing`: of concurrent codes only one goes to the rail.

    False if the payment does not wait for a code any more. Raises ApplicationsClosed.
    """
    release_connection()
    with transaction() as session:
        marked_row = session.execute(mark_processing_sql(current_payment.stall_payment.id)).first()
        if marked_row is not None:
            payment_id = current_payment.stall_payment.id
            aggregate = f"stall-payment:{payment_id}"
            enqueue("applications.settle_payment", delay=STATUS_CHECK_DELAY, aggregate=aggregate, payment_id=payment_id)
        else:
            check_event_open(session, application)
    return marked_row is not None


def mark_processing_sql(payment_id: str) -> ReturningUpdate[str]:
    """One conditional UPDATE from `otp_required` to `processing`, while application and event are open."""
    accepted_application = (
        select(Application.id)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id, Application.status.in_(states.ACCEPTED_STATES))
        .where(can_go_on_sql())
        # A withdrawal or expiry of the application holds this lock while it checks the payments.
        .with_for_update(of=Application)
        .cte("accepted_application")
    )
    return (
        update(StallPayment)
        .where(
            StallPayment.id == payment_id,
            StallPayment.application_id == accepted_application.c.id,
            StallPayment.status == "otp_required",
            StallPayment.tries == StallPayment.answered,
            StallPayment.tries < MAX_TRIES,
            StallPayment.expires_at > func.now(),
        )
        .values(status="processing", tries=StallPayment.tries + 1)
        .returning(StallPayment.id)
        .execution_options(synchronize_session=False)
    )


def _get_status_without_code(resolved_link: ResolvedLink, current_payment: CurrentPayment | None) -> PaymentStatus:
    """The status of a payment that takes no code. Raises PaymentNotStarted, PaymentDeclined, PaymentExpired."""
    if current_payment is not None and current_payment.status in ("paid", "processing"):
        return stall_payments.build_payment_status(resolved_link.application, current_payment)
    raise _build_refusal(current_payment)


def _is_reusable(current_payment: CurrentPayment | None, msisdn: str | None) -> bool:
    """Whether the payment is running or paid, and does not end because of a different wallet."""
    if current_payment is None or current_payment.status in ("declined", "expired"):
        return False
    return msisdn in (None, current_payment.stall_payment.msisdn) or current_payment.status not in (
        "starting",
        "otp_required",
    )


def _check_wallet_accepted(resolved_link: ResolvedLink) -> None:
    """Raises ValidationFailed where the organiser takes transfers only."""
    if resolved_link.event_context.transfers_only:
        message = mark_for_translation("The organiser takes stall fees by bank transfer only.")
        raise ValidationFailed.of("payrailMsisdn", "not_accepted", message)


def _insert_payment(
    session: ReadOrWriteSession,
    resolved_link: ResolvedLink,
    msisdn: str | None,
    *,
    previous_payment: CurrentPayment | None,
) -> StallPayment:
    """Inserts a payment; `previous_payment` ends if it still waits for its code."""
    application = resolved_link.application
    if application.status not in states.ACCEPTED_STATES or not application.payment_due:
        raise NothingDue(status=application.status, due=links.list_due_purposes(application))
    check_event_open(session, application)
    _check_wallet_accepted(resolved_link)
    wallet = msisdn or application.payrail_msisdn
    if wallet is None:
        raise ValidationFailed.of("payrailMsisdn", "required", "Say from which wallet the fee is to be paid.")
    rail().check()
    stall_payments.count_code(session, application.id, wallet)
    ended_payment = (
        update(StallPayment)
        .where(StallPayment.id == (previous_payment.stall_payment.id if previous_payment else None))
        .where(StallPayment.status.in_(("starting", "otp_required")))
        .values(status="expired")
        .returning(StallPayment.id)
        .cte("ended_payment")
    )
    version_update = (
        update(Application)
        .where(Application.id == application.id)
        .values(version=Application.version + 1, language=find_page_language() or Application.language)
    )
    columns: dict[str, ColumnElement[str] | ColumnElement[int] | ColumnElement[datetime]] = {
        "id": literal(new_id()),
        "application_id": literal(application.id),
        "amount_minor": literal(application.amount_minor),
        "msisdn": literal(wallet),
        "status": literal("starting"),
        "tries": literal(0),
        "created_at": func.clock_timestamp(),
    }
    # Counting the ended payments makes PostgreSQL end them first; the unique index allows only one running payment.
    values = select(*columns.values()).where(select(func.count()).select_from(ended_payment).scalar_subquery() >= 0)
    statement = (
        insert(StallPayment)
        .from_select([*columns], values, include_defaults=False)
        .add_cte(version_update.cte("application_update"))
    )
    return session.scalars(statement.returning(StallPayment)).one()


def _record_start(application: Application, charge: Charge, outcome: Outcome) -> PaymentStatus:
    """Records the outcome of starting a charge, unless a concurrent request has recorded it. Raises PaymentDeclined."""
    started_payment = update(StallPayment).where(StallPayment.id == charge.reference, StallPayment.status == "starting")
    current_payment: CurrentPayment | None = None
    with transaction() as session:
        if outcome is Outcome.CODE_SENT:
            expires_at = func.now() + stall_payments.CODE_LIFETIME
            current_payment = _update_payment(
                session, started_payment.values(status="otp_required", expires_at=expires_at)
            )
        elif outcome is Outcome.DECLINED:
            current_payment = _update_payment(session, started_payment.values(status="declined"))
        if current_payment is None:
            current_payment = stall_payments.find_current_payment(application.id, session)
    if outcome is Outcome.DECLINED:
        raise PaymentDeclined()
    if current_payment is None or current_payment.status == "starting":
        raise PayrailUnavailable(retry_after=5)
    return stall_payments.build_payment_status(application, current_payment)


def _update_payment(session: ReadOrWriteSession, statement: Update) -> CurrentPayment | None:
    returning_statement = statement.returning(StallPayment, stall_payments.SECONDS_LEFT_SQL)
    row = session.execute(returning_statement, execution_options=EXECUTION_OPTIONS).first()
    return stall_payments.build_current_payment(row[0], row[1]) if row else None


def _confirm_charge(payment_id: str, code: str) -> ChargeState:
    """Confirms the charge at the rail. An error means that nothing was charged, so the try is restored."""
    try:
        return rail().confirm_charge(payment_id, code)
    except AppError:
        restore_try(payment_id)
        raise


def _build_refusal(current_payment: CurrentPayment | None) -> AppError:
    if current_payment is None or current_payment.status == "starting":
        return PaymentNotStarted()
    return PaymentDeclined() if current_payment.status == "declined" else PaymentExpired()
