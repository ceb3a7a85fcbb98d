"""What the organiser records of a stall fee: that it was received by bank transfer, or that it is waived.

The application is locked, as it is when the rail reports a payment, so that a fee is settled once: money that the rail
takes afterwards is a second capture and is refunded.
"""

from datetime import date

from sqlalchemy import delete, func, select

from app.accounts.caller import Caller
from app.applications import links, stall_payments, states
from app.applications.emails import build_activation_email_jobs, build_email_jobs
from app.applications.errors import NothingDue
from app.applications.fee_bookings import book_fee
from app.applications.models import RECEIVED, WAIVED, Application, StallFeeRecord
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession
from app.core.errors import ValidationFailed
from app.core.outbox import enqueue_all
from app.core.transaction import transaction
from app.invoicing.transfers import list_transfer_errors
from app.ledger.models import BANK


def receive_fee(caller: Caller, id: str, *, amount_minor: int, reference: str, received_on: date) -> list[str]:
    """Records the whole fee as received by bank transfer. The same amount and reference again change nothing.

    Returns the references of other applications whose fee came by a transfer with this reference and day: one transfer
    can pay several fees, or was recorded twice.

    Raises NotFound, NothingDue, PaymentInProgress, and ValidationFailed for another amount than the fee and for a date
    in the future or more than a year ago.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        known = session.get(StallFeeRecord, id)
        if known is not None and (known.amount_minor, known.reference) == (amount_minor, reference):
            return _list_same_transfer(session, caller, application, known)
        _check_due(session, application)
        errors = list_transfer_errors(
            "The fee is", application.amount_minor, amount_minor=amount_minor, received_on=received_on
        )
        if errors:
            raise ValidationFailed(errors)
        row = record_received(session, caller, application, reference=reference, received_on=received_on)
        return _list_same_transfer(session, caller, application, row)


def _list_same_transfer(
    session: ReadOrWriteSession, caller: Caller, application: Application, row: StallFeeRecord
) -> list[str]:
    statement = select(Application.reference).join(StallFeeRecord, StallFeeRecord.application_id == Application.id)
    is_same_transfer = (
        Application.organiser_id == application.organiser_id,
        Application.id != application.id,
        func.lower(StallFeeRecord.reference) == func.lower(row.reference),
        StallFeeRecord.received_on == row.received_on,
        can_decide_sql(caller),
    )
    return list(session.scalars(statement.where(*is_same_transfer).order_by(Application.reference)))


def record_received(
    session: ReadOrWriteSession, caller: Caller, application: Application, *, reference: str, received_on: date
) -> StallFeeRecord:
    """Records the whole fee of a locked application as received, books it, and goes on. Raises NothingDue,
    PaymentInProgress."""
    _check_due(session, application)
    amount_minor = application.amount_minor
    application.paid_at = func.now()
    row = StallFeeRecord(kind=RECEIVED, amount_minor=amount_minor, reference=reference, received_on=received_on)
    data = {"amountMinor": amount_minor, "reference": reference, "receivedOn": received_on.isoformat()}
    book_fee(application, BANK)
    _settle(session, caller, application, row, Action.STALL_FEE_RECEIVED, data)
    return row


def waive_fee(caller: Caller, id: str, *, reason: str) -> None:
    """Waives the fee, which then is no longer due. Again it changes nothing.

    Raises NotFound, NothingDue, PaymentInProgress.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if application.waived_at is not None:
            return
        _check_due(session, application)
        application.waived_at = func.now()
        row = StallFeeRecord(kind=WAIVED, amount_minor=application.amount_minor, reason=reason)
        data = {"amountMinor": application.amount_minor, "reason": reason}
        _settle(session, caller, application, row, Action.STALL_FEE_WAIVED, data)


def remove_waiver(session: ReadOrWriteSession, application: Application) -> None:
    """Makes a waived fee due again, for an approval after the refusal that takes the waiver back."""
    if application.waived_at is not None:
        application.waived_at = None
        session.execute(delete(StallFeeRecord).where(StallFeeRecord.application_id == application.id))


def _check_due(session: ReadOrWriteSession, application: Application) -> None:
    """Raises NothingDue, and PaymentInProgress while the rail may have taken the fee."""
    if application.status not in states.ACCEPTED_STATES or not application.payment_due:
        raise NothingDue(status=application.status, due=links.list_due_purposes(application))
    stall_payments.end_open_payment(session, application.id)


def _settle(
    session: ReadOrWriteSession,
    caller: Caller,
    application: Application,
    row: StallFeeRecord,
    action: Action,
    data: dict[str, object],
) -> None:
    row.application_id, row.recorded_by = application.id, caller.id
    session.add(row)
    session.flush()
    session.refresh(application)
    record_application_act(session, action, application, **data)
    new_links = links.advance_application(session, application)
    template = "application_paid" if row.kind == RECEIVED else "application_waived"
    enqueue_all([*build_email_jobs(template, application), *build_activation_email_jobs(application, new_links)])
