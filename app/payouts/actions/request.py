"""Asking to be paid."""

from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.clients.payrail import rail
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.times import payment_time
from app.merchants import settings, vault
from app.merchants.claiming import claimed
from app.merchants.errors import MerchantPaused
from app.merchants.models import Merchant
from app.merchants.states import PAUSED
from app.payouts import destinations, queries
from app.payouts.destinations import Target
from app.payouts.errors import PayoutDetailsMissing
from app.payouts.models import Payout
from app.payouts.moving import hold
from app.payouts.states import MERCHANT, REQUESTED, SCHEDULED


def request_payout(
    *,
    caller: Caller,
    amount_minor: int,
    destination: str,
    mode: str,
    scheduled_for: datetime | None = None,
    payrail_msisdn: str | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """A payout whose amount is held from now on; cents of NAD. A naive time is in the merchant's time zone.

    Raises ValidationFailed, MerchantPaused, PayoutDetailsMissing, InsufficientFunds with the figure, PayrailDisabled.
    """
    with transaction() as session:
        merchant = claimed(session, caller.id)
        when = payment_time(mode, scheduled_for, settings.effective(merchant.settings)["timezone"])
        target = _target(merchant, destination, payrail_msisdn)
        rail().check()
        payout = Payout(
            id=new_id(), account_id=caller.id, amount_minor=amount_minor, destination=destination, mode=mode,
            scheduled_for=when, idempotency_key=idempotency_key, actor=MERCHANT, **vars(target),
        )  # fmt: skip
        _begin(session, payout)
    return queries.shown(payout)


def _begin(session: OrmSession, payout: Payout) -> None:
    """Holds the amount and enqueues the way to the rail: both commit with the row, or nothing does."""
    hold(session, payout.id, payout.account_id, payout.amount_minor)
    payout.status = SCHEDULED if payout.scheduled_for else REQUESTED
    payout.due_at = payout.scheduled_for or func.now()
    session.add(payout)
    session.flush()
    name = f"payout:{payout.id}"
    enqueue("payouts.carry", key=name, run_at=payout.scheduled_for, aggregate=name, payout_id=payout.id)


def _target(merchant: Merchant, destination: str, msisdn: str | None) -> Target:
    if merchant.status == PAUSED:
        raise MerchantPaused()
    saved = vault.opened(merchant.account_id, merchant.payout_details)
    details = destinations.details_for(destination, msisdn, saved)
    if details is None:
        raise PayoutDetailsMissing(destination=destination)
    return destinations.target(merchant.account_id, destination, details)
