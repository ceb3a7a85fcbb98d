"""Paying the stall fee: reserve, let the rail send a code, confirm. The rail is called between transactions."""

from typing import Any

from sqlalchemy import exists, func, insert, literal, select, update

from app.applications import links, payment, states
from app.applications.errors import (
    ApplicationsClosed,
    NothingDue,
    OtpWrong,
    PaymentDeclined,
    PaymentExpired,
    PaymentInProgress,
    PaymentNotStarted,
)
from app.applications.links import Opened
from app.applications.models import Application, StallPayment
from app.applications.payment import TRIES, Standing
from app.applications.settling import ASK_AFTER, ask, not_asked, settle
from app.clients.payrail import Charge, ChargeState, Outcome, rail
from app.clients.payrail.errors import PayrailUnavailable
from app.core.db import release
from app.core.errors import AppError, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.events.models import Event

OVER = (Outcome.EXPIRED, Outcome.PAID, Outcome.REFUNDED)
TAKES_PLACE = (Event.ends_at > func.now(), Event.visibility != "cancelled")
FRESH = {"populate_existing": True, "synchronize_session": False}


def start_payment(*, token: str, payrail_msisdn: str | None = None) -> dict[str, Any]:
    """Has a code sent to the wallet; a payment that is paid or awaits its code is returned instead.

    Another wallet than that of a payment that awaits its code ends it and starts anew. Before anything new begins the
    rail is asked about every payment that is unanswered. Raises NotFound, LinkExpired, NothingDue, PaymentInProgress,
    Throttled, ValidationFailed without any wallet, ApplicationsClosed when the event is over or was called off,
    PaymentDeclined, PayrailDisabled, PayrailUnavailable.
    """
    while True:
        found, last, charge = _reserve(token, payrail_msisdn)
        if charge is not None:
            told = rail().start_charge(charge)
            if told.outcome not in OVER:
                return _started(found.application, charge, told.outcome)
            # A start that was cut off long ago: the rail has ended its charge meanwhile.
            settle(charge.reference, told)
            continue
        assert last is not None
        if last.status != "processing":
            return payment.told(found.application, last)
        # Each turn ends one payment that is unanswered, or this.
        if payment.unanswered(ask(last.row.id)):
            raise PaymentInProgress(payment_id=last.row.id)


def _reserve(token: str, msisdn: str | None) -> tuple[Opened, Standing | None, Charge | None]:
    """What the link opens, the payment that counts, and the charge to start, if one is to be started."""
    with transaction() as session:
        found = links.opened(token, links.PAYMENT, session=session)
        last = payment.newest(found.application.id, session)
        counts = _counts(last, msisdn)
        if last is None or not counts:
            row = _reserved(session, found.application, msisdn, ending=last)
        else:
            if last.status in ("starting", "otp_required"):
                _check_event(session, found.application)
            if last.status != "starting":
                return found, last, None
            row = last.row
        charge = Charge(
            reference=row.id,
            amount_minor=row.amount_minor,
            msisdn=row.msisdn,
            description=f"Stall fee {found.application.reference}",
        )
        return found, last, charge


def verify_otp(*, token: str, code: str) -> dict[str, Any]:
    """Confirms the running payment with the code; `processing` while the rail's answer is not final.

    Raises NotFound, LinkExpired, OtpWrong with the tries left, PaymentExpired, PaymentDeclined, PaymentNotStarted,
    PaymentInProgress, ApplicationsClosed when the event is over or was called off since the code was sent,
    PayrailDisabled and PayrailUnavailable, after which the same code may be tried again.
    """
    for _ in range(TRIES + 1):
        found, running = payment.behind(token)
        if running is None or running.status != "otp_required":
            return _as_it_is(found, running)
        if _claimed(found.application, running):
            return _checked(token, found, running, code)
        # Another code was quicker, and wrong: the payment may wait for its code again.
    raise PaymentInProgress()


def _checked(token: str, found: Opened, running: Standing, code: str) -> dict[str, Any]:
    """What has become of the payment after this code."""
    told = _confirmed(running.row.id, code)
    after = settle(running.row.id, told)
    if told.outcome is Outcome.WRONG_CODE and after.status != "paid":
        raise OtpWrong(tries_left=TRIES - after.tries)
    if after.status in ("declined", "expired"):
        return _as_it_is(*payment.behind(token))
    return payment.told(found.application, Standing(after, 0))


def _claimed(application: Application, running: Standing) -> bool:
    """Counts a try and takes the payment for it: of many codes at once one goes to the rail.

    Raises ApplicationsClosed.
    """
    release()
    with transaction() as session:
        taken = session.execute(claim(running.row.id)).first()
        if taken is not None:
            payment_id = running.row.id
            job = f"stall-payment:{payment_id}"
            enqueue("applications.settle_payment", delay=ASK_AFTER, aggregate=job, payment_id=payment_id)
        else:
            _check_event(session, application)
    return taken is not None


def claim(payment_id: str) -> Any:
    """The one conditional step from `otp_required` to `processing`, of an application that has not ended, to an event
    that takes place."""
    takes_place = exists().where(Event.id == Application.event_id, *TAKES_PLACE)
    accepted = (
        select(Application.id)
        .join(StallPayment, StallPayment.application_id == Application.id)
        .where(StallPayment.id == payment_id, Application.status.in_(states.ACCEPTED))
        .where(Application.event_id.is_(None) | takes_place)
        # Who withdraws the application, or lets it expire, holds this lock while they look for payments.
        .with_for_update(of=Application)
        .cte("accepted")
    )
    return (
        update(StallPayment)
        .where(
            StallPayment.id == payment_id,
            StallPayment.application_id == accepted.c.id,
            StallPayment.status == "otp_required",
            StallPayment.tries == StallPayment.answered,
            StallPayment.tries < TRIES,
            StallPayment.expires_at > func.now(),
        )
        .values(status="processing", tries=StallPayment.tries + 1)
        .returning(StallPayment.id)
        .execution_options(synchronize_session=False)
    )


def _as_it_is(found: Opened, now: Standing | None) -> dict[str, Any]:
    """The payment that takes no code: returned when it is on its way or paid, refused when it came to nothing."""
    if now is not None and now.status in ("paid", "processing"):
        return payment.told(found.application, now)
    raise _refusal(now)


def _counts(found: Standing | None, msisdn: str | None) -> bool:
    """Whether a payment runs or is finished: not one that has ended, nor one that ends now for another wallet."""
    if found is None or found.status in ("declined", "expired"):
        return False
    return msisdn in (None, found.row.msisdn) or found.status not in ("starting", "otp_required")


def _reserved(
    session: ReadOrWriteSession, application: Application, msisdn: str | None, *, ending: Standing | None
) -> StallPayment:
    """A new payment; `ending` is the last one, which stops running if it does."""
    if application.status not in states.ACCEPTED or not application.payment_due:
        raise NothingDue(status=application.status, due=links.due(application))
    _check_event(session, application)
    wallet = msisdn or application.payrail_msisdn
    if wallet is None:
        raise ValidationFailed.of("payrailMsisdn", "required", "Say from which wallet the fee is to be paid.")
    rail().check()
    payment.spend_code(session, wallet)
    ended = (
        update(StallPayment)
        .where(StallPayment.id == (ending.row.id if ending else None))
        .where(StallPayment.status.in_(("starting", "otp_required")))
        .values(status="expired")
        .returning(StallPayment.id)
        .cte("ended")
    )
    bumped = update(Application).where(Application.id == application.id).values(version=Application.version + 1)
    given: dict[str, Any] = {
        "id": literal(new_id()),
        "application_id": literal(application.id),
        "amount_minor": literal(application.amount_minor),
        "msisdn": literal(wallet),
        "status": literal("starting"),
        "tries": literal(0),
        "created_at": func.clock_timestamp(),
    }
    # Asking how many have ended makes PostgreSQL end them first: the index allows but one that runs.
    values = select(*given.values()).where(select(func.count()).select_from(ended).scalar_subquery() >= 0)
    statement = insert(StallPayment).from_select([*given], values, include_defaults=False).add_cte(bumped.cte("bumped"))
    return session.scalars(statement.returning(StallPayment)).one()


def _check_event(session: ReadOrWriteSession, application: Application) -> None:
    """Raises ApplicationsClosed when the event is over or was called off: nobody pays for a stall there."""
    here = select(Event.id).where(Event.id == application.event_id, *TAKES_PLACE)
    if application.event_id is not None and session.scalar(here) is None:
        raise ApplicationsClosed()


def _started(application: Application, charge: Charge, outcome: Outcome) -> dict[str, Any]:
    """Writes down what the rail said, unless somebody who called with us has done so already."""
    changes: dict[Outcome, dict[str, Any]] = {
        Outcome.CODE_SENT: {"status": "otp_required", "expires_at": func.now() + payment.CODE_LIVES},
        Outcome.DECLINED: {"status": "declined"},
    }
    row: Any = None
    with transaction() as session:
        if outcome in changes:
            starting = update(StallPayment).where(
                StallPayment.id == charge.reference, StallPayment.status == "starting"
            )
            told = starting.values(**changes[outcome]).returning(StallPayment, payment.LEFT)
            row = session.execute(told, execution_options=FRESH).first()
        found = payment.standing(*row) if row else payment.newest(application.id, session)
    if outcome is Outcome.DECLINED:
        raise PaymentDeclined()
    if found is None or found.status == "starting":
        raise PayrailUnavailable(retry_after=5)
    return payment.told(application, found)


def _confirmed(payment_id: str, code: str) -> ChargeState:
    """What the rail says. A refusal to talk at all has changed nothing, so the code may be tried again."""
    try:
        return rail().confirm_charge(payment_id, code)
    except AppError:
        not_asked(payment_id)
        raise


def _refusal(found: Standing | None) -> AppError:
    if found is None or found.status == "starting":
        return PaymentNotStarted()
    return PaymentDeclined() if found.status == "declined" else PaymentExpired()
