"""Asking to be paid."""

from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from flask import current_app
from sqlalchemy import Interval, Table, bindparam, case, exists, func, insert, literal_column, null
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.confirmation import confirm_owner
from app.accounts.errors import ConfirmationRequired
from app.clients.payrail import rail
from app.core.db import fetch_rows
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
from app.payouts.states import MERCHANT, PAID, REQUESTED, SCHEDULED

GIVEN = (
    "id",
    "account_id",
    "amount_minor",
    "destination",
    "mode",
    "scheduled_for",
    "idempotency_key",
    "status",
    "actor",
    *(field.name for field in fields(Target)),
)
_TABLE = cast(Table, Payout.__table__)
_EARLIER = _TABLE.alias("earlier")
_KNOWN = exists().where(
    _EARLIER.c.account_id == bindparam("account_id"),
    _EARLIER.c.wallet_mark == bindparam("wallet_mark"),
    _EARLIER.c.status == literal_column(f"'{PAID}'"),
)
_DUE: Any = func.coalesce(bindparam("scheduled_for"), func.now())
_INSERT = (
    insert(_TABLE)
    .values(
        {name: bindparam(name) for name in GIVEN}
        | {
            "due_at": case((_KNOWN, _DUE), else_=func.now()),
            "held_until": case((_KNOWN, null()), else_=func.now() + as_type(bindparam("rest"), Interval)),
        }
    )
    .returning(*(_TABLE.c[name] for name in queries.SHOWN))
)


class _Unconfirmed(Exception):
    """Nothing was paid to the destination before, and this request to it is not confirmed."""

    def __init__(self, mark: str) -> None:
        super().__init__(mark)
        self.mark = mark


def request_payout(*, caller: Caller, password: str | None = None, **wish: Any) -> dict[str, Any]:
    """A payout whose amount is held from now on; what is wished for is told by `_request`.

    A destination that nothing was paid to before has to be confirmed by the owner. The password is looked at outside of
    the transaction, and confirms only the destination that the details lead to by then. Raises ValidationFailed,
    MerchantPaused, PayoutDetailsMissing, InsufficientFunds with the figure, PayrailDisabled, ConfirmationRequired,
    CurrentPasswordWrong, Throttled.
    """
    request = partial(_request, caller=caller, **wish)
    try:
        return request(confirmed=None)
    except _Unconfirmed as error:
        mark = error.mark
    if destinations.mark_earlier_payouts(caller.id, mark):
        return request(confirmed=mark)
    confirm_owner(caller, password)
    try:
        return request(confirmed=mark)
    except _Unconfirmed as error:
        raise ConfirmationRequired() from error


def _request(
    *,
    caller: Caller,
    confirmed: str | None,
    amount_minor: int,
    destination: str,
    mode: str,
    scheduled_for: datetime | None = None,
    payrail_msisdn: str | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """One try; cents of NAD. A naive time is in the merchant's time zone. `confirmed` is the mark of the destination
    that may be new. Raises _Unconfirmed for any other that is."""
    with transaction() as session:
        merchant = claimed_briefly(session, caller.id)
        when = payment_time(mode, scheduled_for, settings.effective(merchant.settings)["timezone"])
        target = _target(caller.id, merchant, destination, payrail_msisdn)
        rail().check()
        values = {
            "id": new_id(),
            "account_id": caller.id,
            "amount_minor": amount_minor,
            "destination": destination,
            "mode": mode,
            "scheduled_for": when,
            "idempotency_key": idempotency_key,
            **vars(target),
        }
        made = _begun(session, values, confirmed)
    return queries.told(made)


def _begun(session: OrmSession, values: dict[str, Any], confirmed: str | None) -> dict[str, Any]:
    """The row, once the amount is held and the way to the rail enqueued: all of it commits, or nothing does.

    The job of a payout to a new destination is due at once, to tell the owner, and waits then.
    """
    payout_id, when = values["id"], values["scheduled_for"]
    hold(session, payout_id, values["account_id"], values["amount_minor"])
    begins = {"status": SCHEDULED if when else REQUESTED, "actor": MERCHANT, "rest": _rest()}
    (row,) = fetch_rows(_INSERT, {**values, **begins})
    made = dict(zip(queries.SHOWN, row, strict=True))
    new = made["held_until"] is not None
    if new and values["wallet_mark"] != confirmed:
        raise _Unconfirmed(values["wallet_mark"])
    name = f"payout:{payout_id}"
    enqueue("payouts.carry", key=name, run_at=None if new else when, aggregate=name, payout_id=payout_id)
    return made


def _rest() -> timedelta:
    return timedelta(hours=current_app.extensions["settings"].PAYOUT_NEW_DESTINATION_HOLD)


def _target(account_id: str, merchant: Purpose, destination: str, msisdn: str | None) -> Target:
    if merchant.status == PAUSED:
        raise MerchantPaused()
    saved = vault.opened(account_id, merchant.payout_details)
    details = destinations.details_for(destination, msisdn, saved)
    if details is None:
        raise PayoutDetailsMissing(destination=destination)
    return destinations.target(account_id, destination, details)
