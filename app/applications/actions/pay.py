"""Paying the stall fee: reserve, let the rail send a code, confirm. The rail is called between transactions."""

from typing import Any

from sqlalchemy import func

from app.applications import links, payment, states
from app.applications.errors import NothingDue, OtpWrong, PaymentDeclined, PaymentExpired, PaymentNotStarted
from app.applications.models import Application, StallPayment
from app.applications.payment import TRIES, Standing
from app.applications.settling import ASK_AFTER, not_asked, settle
from app.clients.payrail import Charge, Outcome, rail
from app.clients.payrail.errors import PayrailUnavailable
from app.core.db import ReadOrWriteSession
from app.core.errors import AppError, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction


def start_payment(*, token: str, payrail_msisdn: str | None = None) -> dict[str, Any]:
    """Has a code sent to the wallet; a payment that runs or is finished is told again instead.

    Another wallet than that of the running payment ends it and starts anew. Raises NotFound, LinkExpired,
    NothingDue, Throttled, ValidationFailed without any wallet, PaymentDeclined, PayrailDisabled, PayrailUnavailable.
    """
    with transaction() as session:
        found = links.opened(token, links.PAYMENT, session=session)
        running = _running(session, found.application, payrail_msisdn)
        if running is not None and running.status != "starting":
            return payment.told(found.application, running)
        row = running.row if running else _reserved(session, found.application, payrail_msisdn)
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
    with transaction() as session:
        application = links.opened(token, links.PAYMENT, session=session).application
        found = payment.newest(application.id, session)
        if found is not None and found.status in ("paid", "processing"):
            return payment.told(application, found)
        refusal = _refusal(found)
        if found is not None and refusal is None:
            found.row.status, found.row.tries = "processing", found.row.tries + 1
            enqueue("applications.settle_payment", delay=ASK_AFTER, payment_id=found.row.id)
    if found is None or refusal is not None:
        raise refusal or PaymentNotStarted()
    outcome = _confirmed(found.row.id, code)
    after = settle(found.row.id, outcome)
    if outcome is Outcome.WRONG_CODE and after.status != "paid":
        raise OtpWrong(tries_left=TRIES - after.tries)
    if after.status == "declined":
        raise PaymentDeclined()
    return payment.told(application, Standing(after, 0))


def _running(session: ReadOrWriteSession, application: Application, msisdn: str | None) -> Standing | None:
    """The payment that runs or is finished. One whose code has had its time, or for another wallet, is ended."""
    found = payment.newest(application.id, session)
    if found is None or found.status == "declined":
        return None
    other_wallet = msisdn not in (None, found.row.msisdn) and found.status in ("starting", "otp_required")
    if found.status == "expired" or other_wallet:
        found.row.status = "expired"
        session.flush()
        return None
    return found


def _reserved(session: ReadOrWriteSession, application: Application, msisdn: str | None) -> StallPayment:
    if application.status not in states.ACCEPTED or not application.payment_due:
        raise NothingDue(status=application.status, due=links.due(application))
    wallet = msisdn or application.payrail_msisdn
    if wallet is None:
        raise ValidationFailed.of("payrailMsisdn", "required", "Say from which wallet the fee is to be paid.")
    rail().check()
    payment.spend_code(session, wallet)
    row = StallPayment(
        id=new_id(),
        application_id=application.id,
        amount_minor=application.amount_minor,
        msisdn=wallet,
        status="starting",
        created_at=func.clock_timestamp(),
    )
    session.add(row)
    application.version += 1
    session.flush()
    return row


def _started(application: Application, charge: Charge, outcome: Outcome) -> dict[str, Any]:
    """Writes down what the rail said, unless somebody who called with us has done so already."""
    with transaction() as session:
        row = session.get_one(StallPayment, charge.reference, with_for_update=True, populate_existing=True)
        if row.status == "starting" and outcome is Outcome.CODE_SENT:
            row.status, row.expires_at = "otp_required", func.now() + payment.CODE_LIVES
        elif row.status == "starting" and outcome is Outcome.DECLINED:
            row.status = "declined"
        session.flush()
        found = payment.newest(application.id, session)
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


def _refusal(found: Standing | None) -> AppError | None:
    if found is None or found.status == "starting":
        return PaymentNotStarted()
    if found.status == "declined":
        return PaymentDeclined()
    return PaymentExpired() if found.status == "expired" or found.row.tries >= TRIES else None
