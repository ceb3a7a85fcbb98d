"""What merchants, the rail and operators do to payouts: one verb, one transaction.

Asking to be paid.

Taking a wish to be paid back.

Stopping payouts to a new destination by the link in the mail that told of them.

Listening to the rail.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from flask import current_app
from sqlalchemy import Interval, Table, bindparam, case, exists, func, literal_column, null, or_, select
from sqlalchemy import cast as as_type
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired
from app.clients.payrail import rail
from app.clients.payrail.callbacks import verified
from app.core.db import fetch_rows
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.time_conversion import to_payment_time
from app.merchants import payout_encryption, settings
from app.merchants.errors import MerchantPaused
from app.merchants.row_locks import MerchantPayoutInfo, lock_merchant_columns
from app.merchants.states import PAUSED
from app.payouts import destinations, queries
from app.payouts.destinations import EncryptedDestination
from app.payouts.errors import NotCancellable, PayoutDetailsMissing
from app.payouts.models import Payout, PayrailCallback
from app.payouts.states import CANCELLABLE, CANCELLED, MERCHANT, PAID, REQUESTED, SCHEDULED
from app.payouts.transfers import enqueue_status_check
from app.payouts.transitions import cancel_payouts, post_hold

INSERTED_COLUMNS = (
    "id",
    "account_id",
    "amount_minor",
    "destination",
    "mode",
    "scheduled_for",
    "idempotency_key",
    "status",
    "actor",
    *(field.name for field in fields(EncryptedDestination)),
)
_PAYOUT_TABLE = cast(Table, Payout.__table__)
_EARLIER_PAYOUT = _PAYOUT_TABLE.alias("earlier")
_IS_KNOWN_DESTINATION = exists().where(
    _EARLIER_PAYOUT.c.account_id == bindparam("account_id"),
    _EARLIER_PAYOUT.c.wallet_mark == bindparam("wallet_mark"),
    _EARLIER_PAYOUT.c.status == literal_column(f"'{PAID}'"),
)
_DUE_AT: Any = func.coalesce(bindparam("scheduled_for"), func.now())
_INSERT_PAYOUT = (
    insert(_PAYOUT_TABLE)
    .values(
        {name: bindparam(name) for name in INSERTED_COLUMNS}
        | {
            "due_at": case((_IS_KNOWN_DESTINATION, _DUE_AT), else_=func.now()),
            "held_until": case(
                (_IS_KNOWN_DESTINATION, null()), else_=func.now() + as_type(bindparam("rest"), Interval)
            ),
        }
    )
    .returning(*(_PAYOUT_TABLE.c[name] for name in queries.PAYOUT_COLUMNS))
)


class _UnconfirmedDestination(Exception):
    """Nothing was paid to the destination before, and this request to it is not confirmed."""

    def __init__(self, destination_hash: str) -> None:
        super().__init__(destination_hash)
        self.destination_hash = destination_hash


def request_payout(*, caller: Caller, password: str | None = None, **request_fields: Any) -> dict[str, Any]:
    """A payout whose amount is held from now on; what is wished for is told by `_request`.

    A destination that nothing was paid to before has to be confirmed by the owner. The password is looked at outside of
    the transaction, and confirms only the destination that the details lead to by then. Raises ValidationFailed,
    MerchantPaused, PayoutDetailsMissing, InsufficientFunds with the figure, PayrailDisabled, ConfirmationRequired,
    CurrentPasswordWrong, Throttled.
    """
    try_request = partial(_create_payout, caller=caller, **request_fields)
    try:
        return try_request(confirmed_hash=None)
    except _UnconfirmedDestination as error:
        destination_hash = error.destination_hash
    if destinations.hash_earlier_destinations(caller.id, destination_hash):
        return try_request(confirmed_hash=destination_hash)
    confirm_owner(caller, password)
    try:
        return try_request(confirmed_hash=destination_hash)
    except _UnconfirmedDestination as error:
        raise ConfirmationRequired() from error


def _create_payout(
    *,
    caller: Caller,
    confirmed_hash: str | None,
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
        merchant = lock_merchant_columns(session, caller.id)
        payment_at = to_payment_time(
            mode, scheduled_for, settings.get_effective_settings(merchant.settings)["timezone"]
        )
        encrypted_destination = _encrypt_destination(caller.id, merchant, destination, payrail_msisdn)
        rail().check()
        values = {
            "id": new_id(),
            "account_id": caller.id,
            "amount_minor": amount_minor,
            "destination": destination,
            "mode": mode,
            "scheduled_for": payment_at,
            "idempotency_key": idempotency_key,
            **vars(encrypted_destination),
        }
        row = _insert_payout(session, values, confirmed_hash)
    return queries.serialize_payout_row(row)


def _insert_payout(session: OrmSession, values: dict[str, Any], confirmed_hash: str | None) -> dict[str, Any]:
    """The row, once the amount is held and the way to the rail enqueued: all of it commits, or nothing does.

    The job of a payout to a new destination is due at once, to tell the owner, and waits then.
    """
    payout_id, payment_at = values["id"], values["scheduled_for"]
    post_hold(session, payout_id, values["account_id"], values["amount_minor"])
    initial_values = {"status": SCHEDULED if payment_at else REQUESTED, "actor": MERCHANT, "rest": _get_hold_time()}
    (row,) = fetch_rows(_INSERT_PAYOUT, {**values, **initial_values})
    payout = dict(zip(queries.PAYOUT_COLUMNS, row, strict=True))
    is_new_destination = payout["held_until"] is not None
    if is_new_destination and values["wallet_mark"] != confirmed_hash:
        raise _UnconfirmedDestination(values["wallet_mark"])
    job_key = f"payout:{payout_id}"
    enqueue(
        "payouts.carry",
        key=job_key,
        run_at=None if is_new_destination else payment_at,
        aggregate=job_key,
        payout_id=payout_id,
    )
    return payout


def _get_hold_time() -> timedelta:
    return timedelta(hours=current_app.extensions["settings"].PAYOUT_NEW_DESTINATION_HOLD)


def _encrypt_destination(
    account_id: str, merchant: MerchantPayoutInfo, destination: str, msisdn: str | None
) -> EncryptedDestination:
    if merchant.status == PAUSED:
        raise MerchantPaused()
    saved_details = payout_encryption.decrypt_payout_details(account_id, merchant.payout_details)
    details = destinations.select_details(destination, msisdn, saved_details)
    if details is None:
        raise PayoutDetailsMissing(destination=destination)
    return destinations.encrypt_destination(account_id, destination, details)


def cancel_payout(*, caller: Caller, id: str) -> dict[str, Any]:
    """The payout, cancelled, and its amount given back; doing it again changes nothing.

    It and the claim of the worker are conditional updates of one row, so one of them wins. Raises NotFound,
    NotCancellable.
    """
    with transaction() as session:
        owned_by_caller = (Payout.account_id == caller.id,)
        cancelled = cancel_payouts(session, [id], actor=MERCHANT, conditions=owned_by_caller)
        if cancelled:
            return queries.serialize_payout(cancelled[0])
        payout = session.scalar(select(Payout).where(Payout.id == id, *owned_by_caller))
    if payout is None:
        raise NotFound()
    if payout.status != CANCELLED:
        raise NotCancellable(status=payout.status)
    return queries.serialize_payout(payout)


STOPPED_BY_LINK = "STOPPED_BY_LINK"


def stop_payouts(payout_id: str) -> int:
    """Cancels the payout and every other one to its destination that rests; how many. Raises NotFound.

    They are locked in the order of their ids, so two that stop the same ones never wait for each other.
    """
    with transaction() as session:
        payout = session.get(Payout, payout_id, populate_existing=True)
        if payout is None:
            raise NotFound()
        same_destination = (Payout.wallet_mark == payout.wallet_mark) & Payout.held_until.is_not(None)
        payout_ids = session.scalars(
            select(Payout.id)
            .where(
                Payout.account_id == payout.account_id,
                Payout.status.in_(CANCELLABLE),
                or_(Payout.id == payout.id, same_destination),
            )
            .order_by(Payout.id)
            .with_for_update()
        ).all()
        return len(cancel_payouts(session, payout_ids, actor=MERCHANT, reason=STOPPED_BY_LINK))


def receive_callback(*, headers: Mapping[str, str], body: bytes) -> None:
    """Keeps a signed event, once, and has the rail asked at once. Raises CallbackNotSigned, CallbackUnreadable."""
    event = verified(headers, body)
    with transaction() as session:
        inserted = session.execute(
            insert(PayrailCallback).values(vars(event)).on_conflict_do_nothing().returning(PayrailCallback.event_id)
        )
        if inserted.first() is not None:
            enqueue_status_check(event)
