"""Refunding a stall fee, or a part of it, once: by the rail where it was paid by the rail, else recorded as sent."""

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.applications.errors import FeeRefunded, NothingToRefund
from app.applications.fee_refunds import complete_refund
from app.applications.models import Application, StallFeeRefund, StallPayment
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.applications.states import BY_RAIL, BY_TRANSFER, REFUND_REFUSED, REFUND_REQUESTED
from app.audit.actions import Action
from app.clients.payrail import rail
from app.core.errors import ValidationFailed
from app.core.formatting import format_money
from app.core.outbox import enqueue
from app.core.transaction import transaction


def refund_fee(
    caller: Caller, id: str, *, reason: str, amount_minor: int | None = None, reference: str | None = None
) -> None:
    """Refunds the fee, by default the whole. The same refund again changes nothing.

    A fee that the rail took goes back by the rail, as a whole. A fee that was received by transfer, and with a
    `reference` one that the rail has refused to send back, the organiser has sent back, and this records it.

    Raises NotFound, NothingToRefund, FeeRefunded, PayrailDisabled, and ValidationFailed for no amount or one above the
    fee, for a part by the rail, and for a `reference` before the rail has refused.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        refund = session.get(StallFeeRefund, id, populate_existing=True)
        if application.paid_at is None:
            raise NothingToRefund(status=application.status)
        is_paid_by_rail = (StallPayment.application_id == id) & (StallPayment.status == "paid")
        paid_by_rail = session.scalar(select(StallPayment.id).where(is_paid_by_rail)) is not None
        if paid_by_rail and refund is None and reference is not None:
            message = "The rail took this fee and sends it back itself. Leave out the reference."
            raise ValidationFailed.of("reference", "paid_by_rail", message)
        method = BY_RAIL if paid_by_rail and reference is None else BY_TRANSFER
        amount_minor = _check_amount(application, method, amount_minor)
        terms = {"method": method, "amount_minor": amount_minor, "reference": reference}
        if refund is not None and refund.status != REFUND_REFUSED:
            if all(getattr(refund, name) == value for name, value in terms.items()):
                return
            raise FeeRefunded(status=refund.status, amountMinor=refund.amount_minor)
        if method == BY_RAIL:
            rail().check()
        refund = session.merge(
            StallFeeRefund(
                application_id=id,
                status=REFUND_REQUESTED,
                reason=reason,
                recorded_by=caller.id,
                recorded_at=func.now(),
                **terms,
            )
        )
        record_application_act(
            session,
            Action.STALL_FEE_REFUNDED,
            application,
            method=method,
            amountMinor=amount_minor,
            reference=reference,
            reason=reason,
        )
        if method == BY_TRANSFER:
            complete_refund(session, application, refund)
        else:
            application.version += 1
            enqueue("applications.refund_fee", aggregate=f"stall-fee-refund:{id}", application_id=id)


def _check_amount(application: Application, method: str, amount_minor: int | None) -> int:
    """The amount to send back. Raises ValidationFailed."""
    fee_minor = application.amount_minor
    if amount_minor is None or amount_minor == fee_minor:
        return fee_minor
    if amount_minor < 1:
        raise ValidationFailed.of("amountMinor", "too_small", "Send back one cent or more.")
    if amount_minor > fee_minor:
        raise ValidationFailed.of("amountMinor", "too_large", f"The fee was {format_money(fee_minor)}.")
    if method == BY_RAIL:
        message = "The wallet gets the whole fee back, not a part. Leave out the amount."
        raise ValidationFailed.of("amountMinor", "whole_fee", message)
    return amount_minor
