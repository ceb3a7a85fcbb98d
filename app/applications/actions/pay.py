"""Paying the stall fee: reserve, let the rail send a code, confirm. The rail is called between transactions."""

from typing import Any

from sqlalchemy import func, insert, literal, select, update

from app.applications import links, payment, states
from app.applications.errors import NothingDue, OtpWrong, PaymentDeclined, PaymentExpired, PaymentNotStarted
from app.applications.models import Application, StallPayment
from app.applications.payment import TRIES, Standing
from app.applications.settling import ASK_AFTER, not_asked, settle
from app.clients.payrail import Charge, Outcome, rail
from app.clients.payrail.errors import PayrailUnavailable
from app.core.db import release
from app.core.errors import AppError, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction

FRESH = {"populate_existing": True, "synchronize_session": False}


def start_payment(*, token: str, payrail_msisdn: str | None = None) -> dict[str, Any]:
    """Has a code sent to the wallet; a payment that runs or is finished is told again instead.

    Another wallet than that of the running payment ends it and starts anew. Raises NotFound, LinkExpired,
    NothingDue, Throttled, ValidationFailed without any wallet, PaymentDeclined, PayrailDisabled, PayrailUnavailable.
    """
    with transaction() as session:
        found = links.opened(token, links.PAYMENT, session=session)
        last = payment.newest(found.application.id, session)
        counts = _counts(last, payrail_msisdn)
        if last is not None and counts and last.status != "starting":
            return payment.told(found.application, last)
        row = last.row if last and counts else _reserved(session, found.application, payrail_msisdn, ending=last)
        charge = Charge(
            reference=row.id,
            amount_minor=row.amount_minor,
            msisdn=row.msisdn,
            description=f"Stall fee {found.application.reference}",
        )
    return _started(found.application, charge, rail().start_charge(charge))


def verify_otp(*, token: str, code: str) -> dict[str, Any]:
    """Confirms the running payment with the code; `processing` when the rail does not say how it ended.

    Raises NotFound, LinkExpired, OtpWrong with the tries left, PaymentExpired, PaymentDeclined, PaymentNotStarted,
    PayrailDisabled and PayrailUnavailable, after which the same code may be tried again.
    """
    found, running = payment.behind(token)
    if running is None or not _claimed(running):
        return _as_it_stands(token)
    outcome = _confirmed(running.row.id, code)
    after = settle(running.row.id, outcome)
    if outcome is Outcome.WRONG_CODE and after.status != "paid":
        raise OtpWrong(tries_left=TRIES - after.tries)
    if after.status == "declined":
        raise PaymentDeclined()
    return payment.told(found.application, Standing(after, 0))


def _claimed(running: Standing) -> bool:
    """Counts a try and takes the payment for it: of many codes at once one goes to the rail."""
    release()
    with transaction() as session:
        taken = session.execute(claim(running.row.id)).first()
        if taken is not None:
            enqueue("applications.settle_payment", delay=ASK_AFTER, payment_id=running.row.id)
    return taken is not None


def claim(payment_id: str) -> Any:
    """The one conditional step from `otp_required` to `processing`."""
    return (
        update(StallPayment)
        .where(
            StallPayment.id == payment_id,
            StallPayment.status == "otp_required",
            StallPayment.tries < TRIES,
            StallPayment.expires_at > func.now(),
        )
        .values(status="processing", tries=StallPayment.tries + 1)
        .returning(StallPayment.id)
        .execution_options(synchronize_session=False)
    )


def _as_it_stands(token: str) -> dict[str, Any]:
    """The payment that takes no code: told when it is on its way or paid, refused when it came to nothing."""
    found, now = payment.behind(token)
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


def _confirmed(payment_id: str, code: str) -> Outcome:
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
