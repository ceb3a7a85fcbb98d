"""Asking to be paid."""

from dataclasses import fields
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, bindparam, func, insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.clients.payrail import rail
from app.core.db import compiled, rows_within
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.times import payment_time
from app.merchants import settings, vault
from app.merchants.claiming import Purpose, claimed_briefly
from app.merchants.errors import MerchantPaused
from app.merchants.states import PAUSED
from app.payouts import destinations, queries
from app.payouts.destinations import Target
from app.payouts.errors import PayoutDetailsMissing
from app.payouts.models import Payout
from app.payouts.moving import hold
from app.payouts.states import MERCHANT, REQUESTED, SCHEDULED

GIVEN = (
    "id", "account_id", "amount_minor", "destination", "mode", "scheduled_for", "idempotency_key", "status", "actor",
    *(each.name for each in fields(Target)),
)  # fmt: skip
_TABLE = cast(Table, Payout.__table__)
_INSERT = compiled(
    insert(_TABLE)
    .values(
        {name: bindparam(name) for name in GIVEN} | {"due_at": func.coalesce(bindparam("scheduled_for"), func.now())}
    )
    .returning(*(_TABLE.c[name] for name in queries.SHOWN))
)


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
        merchant = claimed_briefly(session, caller.id)
        when = payment_time(mode, scheduled_for, settings.effective(merchant.settings)["timezone"])
        target = _target(caller.id, merchant, destination, payrail_msisdn)
        rail().check()
        values = {
            "id": new_id(), "account_id": caller.id, "amount_minor": amount_minor, "destination": destination,
            "mode": mode, "scheduled_for": when, "idempotency_key": idempotency_key, **vars(target),
        }  # fmt: skip
        made = _begun(session, values)
    return queries.told(made)


def _begun(session: OrmSession, values: dict[str, Any]) -> dict[str, Any]:
    """The row, once the amount is held and the way to the rail enqueued: all of it commits, or nothing does."""
    payout_id, when = values["id"], values["scheduled_for"]
    hold(session, payout_id, values["account_id"], values["amount_minor"])
    begins = {"status": SCHEDULED if when else REQUESTED, "actor": MERCHANT}
    (row,) = rows_within(session, _INSERT, {**values, **begins})
    name = f"payout:{payout_id}"
    enqueue("payouts.carry", key=name, run_at=when, aggregate=name, payout_id=payout_id)
    return dict(zip(queries.SHOWN, row, strict=True))


def _target(account_id: str, merchant: Purpose, destination: str, msisdn: str | None) -> Target:
    if merchant.status == PAUSED:
        raise MerchantPaused()
    saved = vault.opened(account_id, merchant.payout_details)
    details = destinations.details_for(destination, msisdn, saved)
    if details is None:
        raise PayoutDetailsMissing(destination=destination)
    return destinations.target(account_id, destination, details)
