"""Actions on payouts of merchants, of the rail and of operators: request, cancel, stop by link, receive a callback, ask the
rail, and end one that needs review.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial
from typing import NotRequired, TypedDict, Unpack, cast

from flask import current_app
from sqlalchemy import ColumnElement, Interval, Table, bindparam, case, exists, func, literal_column, null, or_, select
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import insert

from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.errors import ConfirmationRequired
from app.accounts.models import Account
from app.audit.actions import Action
from app.audit.log import record, record_many
from app.clients.payrail import TransferOutcome, TransferState, rail
from app.clients.payrail.callbacks import parse_callback
from app.core.db import db, fetch_row, release_connection
from app.core.errors import NotFound
from app.core.ids import is_id, new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.timezones import to_payment_time
from app.merchants.errors import MerchantPaused
from app.merchants.payout_details import decrypt_payout_details
from app.merchants.queries import MerchantPayoutInfo, get_effective_settings, lock_merchant_columns
from app.merchants.states import PAUSED
from app.payouts import destination_encryption, transfers
from app.payouts.callbacks import enqueue_status_check
from app.payouts.destination_encryption import EncryptedDestination
from app.payouts.errors import NotCancellable, NotResolvable, OwnerMustConfirm, PayoutDetailsMissing
from app.payouts.models import Payout, PayrailCallback
from app.payouts.outcomes import cancel_payouts, post_hold, record_outcome
from app.payouts.queries import PAYOUT_COLUMNS, PayoutSummary, summarize_payout
from app.payouts.reviews import close_reviews, list_open_reviews
from app.payouts.states import (
    AWAITING_OUTCOME,
    CANCELLABLE,
    CANCELLED,
    MERCHANT,
    NEEDS_REVIEW,
    OPERATOR,
    PAID,
    RAIL,
    REQUESTED,
    SCHEDULED,
)

STOPPED_BY_LINK = "STOPPED_BY_LINK"
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
_DUE_AT: ColumnElement[datetime] = func.coalesce(bindparam("scheduled_for"), func.now())
_HELD_UNTIL = func.now() + sql_cast(bindparam("hold_time"), Interval)
_INSERT_PAYOUT = (
    insert(_PAYOUT_TABLE)
    .values(
        {name: bindparam(name) for name in INSERTED_COLUMNS}
        | {
            "due_at": case((_IS_KNOWN_DESTINATION, _DUE_AT), else_=func.now()),
            "held_until": case((_IS_KNOWN_DESTINATION, null()), else_=_HELD_UNTIL),
        }
    )
    .returning(*(_PAYOUT_TABLE.c[name] for name in PAYOUT_COLUMNS))
)
_PAYOUT_BY_KEY = select(*(_PAYOUT_TABLE.c[name] for name in PAYOUT_COLUMNS)).where(
    _PAYOUT_TABLE.c.account_id == bindparam("account_id"),
    _PAYOUT_TABLE.c.idempotency_key == bindparam("idempotency_key"),
)


class PayoutRequest(TypedDict):
    """A request to be paid out, in cents. A naive `scheduled_for` is in the merchant's time zone."""

    amount_minor: int
    destination: str
    mode: str
    scheduled_for: NotRequired[datetime | None]
    payrail_msisdn: NotRequired[str | None]
    idempotency_key: NotRequired[str | None]


class _UnconfirmedDestination(Exception):
    """The destination is new, and the owner has not confirmed it."""

    def __init__(self, destination_hash: str) -> None:
        super().__init__(destination_hash)
        self.destination_hash = destination_hash


def request_payout(
    *, caller: Caller, password: str | None = None, **payout_request: Unpack[PayoutRequest]
) -> PayoutSummary:
    """Create a payout and hold its amount. A repeated idempotency key returns the payout that it created.

    The owner has to confirm a destination to which nothing was paid before. The password is checked outside the
    transaction and confirms only the destination that the first try resolved. Raises ValidationFailed, MerchantPaused,
    PayoutDetailsMissing, InsufficientFunds with the available amount, PayrailDisabled, ConfirmationRequired,
    CurrentPasswordWrong, Throttled, and OwnerMustConfirm for a member of the merchant's team.
    """
    try_request = partial(_create_payout, caller, payout_request)
    try:
        return try_request(confirmed_hash=None)
    except _UnconfirmedDestination as error:
        destination_hash = error.destination_hash
    if destination_encryption.hash_earlier_destinations(caller.merchant_id, destination_hash):
        return try_request(confirmed_hash=destination_hash)
    if caller.merchant_id != caller.id:
        raise OwnerMustConfirm()
    confirm_owner(caller, password)
    try:
        return try_request(confirmed_hash=destination_hash)
    except _UnconfirmedDestination as error:
        raise ConfirmationRequired() from error


def _create_payout(caller: Caller, payout_request: PayoutRequest, *, confirmed_hash: str | None) -> PayoutSummary:
    """Try once. Raises _UnconfirmedDestination for a new destination that does not have the confirmed hash."""
    mode, destination = payout_request["mode"], payout_request["destination"]
    with transaction() as session:
        merchant = lock_merchant_columns(session, caller.merchant_id)
        time_zone = get_effective_settings(merchant.settings)["timezone"]
        payment_at = to_payment_time(mode, payout_request.get("scheduled_for"), time_zone)
        encrypted_destination = _encrypt_destination(
            caller.merchant_id, merchant, destination, payout_request.get("payrail_msisdn")
        )
        key = payout_request.get("idempotency_key")
        earlier_payout = _find_payout_by_key(caller.merchant_id, key) if key else None
        if earlier_payout is not None:
            return earlier_payout
        rail().check()
        payout_id = new_id()
        post_hold(session, payout_id, caller.merchant_id, payout_request["amount_minor"])
        payout = _insert_payout(
            {
                "id": payout_id,
                "account_id": caller.merchant_id,
                "amount_minor": payout_request["amount_minor"],
                "destination": destination,
                "mode": mode,
                "scheduled_for": payment_at,
                "idempotency_key": key,
                "status": SCHEDULED if payment_at else REQUESTED,
                "actor": MERCHANT,
                "hold_time": _get_hold_time(),
                **vars(encrypted_destination),
            }
        )
        is_new_destination = payout.held_until is not None
        if is_new_destination and encrypted_destination.wallet_mark != confirmed_hash:
            raise _UnconfirmedDestination(encrypted_destination.wallet_mark)
        data = {"amountMinor": payout.amount_minor, "destination": destination, "mode": mode}
        record(session, Action.PAYOUT_REQUESTED, account_id=caller.merchant_id, subject=payout.id, data=data)
        _enqueue_payout(payout)
    return payout


def _find_payout_by_key(account_id: str, key: str) -> PayoutSummary | None:
    """The payout that an earlier request with this key has created. The merchant is locked, so no other is creating it."""
    row = fetch_row(_PAYOUT_BY_KEY, {"account_id": account_id, "idempotency_key": key})
    return None if row is None else PayoutSummary(*row)


def _insert_payout(parameters: Mapping[str, object]) -> PayoutSummary:
    row = fetch_row(_INSERT_PAYOUT, parameters)
    assert row is not None
    return PayoutSummary(*row)


def _enqueue_payout(payout: PayoutSummary) -> None:
    """Enqueue the job that submits the payout. For a new destination it runs now, to notify the owner, and waits."""
    job_key = f"payout:{payout.id}"
    enqueue(
        "payouts.carry",
        key=job_key,
        run_at=payout.scheduled_for if payout.held_until is None else None,
        aggregate=job_key,
        payout_id=payout.id,
    )


def _get_hold_time() -> timedelta:
    return timedelta(hours=current_app.extensions["settings"].PAYOUT_NEW_DESTINATION_HOLD)


def _encrypt_destination(
    account_id: str, merchant: MerchantPayoutInfo, destination: str, msisdn: str | None
) -> EncryptedDestination:
    if merchant.status == PAUSED:
        raise MerchantPaused()
    saved_details = decrypt_payout_details(account_id, merchant.payout_details)
    details = destination_encryption.select_details(destination, msisdn, saved_details)
    if details is None:
        raise PayoutDetailsMissing(destination=destination)
    return destination_encryption.encrypt_destination(account_id, destination, details)


def cancel_payout(*, caller: Caller, id: str) -> PayoutSummary:
    """Cancel a payout and release its amount; cancelling again changes nothing.

    This and the worker's submission are conditional updates of one row, so only one of them succeeds. Raises NotFound,
    NotCancellable.
    """
    with transaction() as session:
        owned_by_caller = (Payout.account_id == caller.merchant_id,)
        cancelled = cancel_payouts(session, [id], actor=MERCHANT, conditions=owned_by_caller)
        if cancelled:
            record(session, Action.PAYOUT_CANCELLED, account_id=caller.merchant_id, subject=id)
            return summarize_payout(cancelled[0])
        payout = session.scalar(select(Payout).where(Payout.id == id, *owned_by_caller))
    if payout is None:
        raise NotFound()
    if payout.status != CANCELLED:
        raise NotCancellable(status=payout.status)
    return summarize_payout(payout)


def stop_payouts(payout_id: str) -> int:
    """Cancel the payout and all others on hold to its destination; return how many. Raises NotFound.

    Rows are locked in the order of their ids, so two stops of the same payouts never deadlock.
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
        stopped = cancel_payouts(session, payout_ids, actor=MERCHANT, reason=STOPPED_BY_LINK)
        stopped_ids = [stopped_payout.id for stopped_payout in stopped]
        record_many(session, Action.PAYOUT_STOPPED, stopped_ids, account_id=payout.account_id)
        return len(stopped)


def receive_callback(*, headers: Mapping[str, str], body: bytes) -> None:
    """Store a signed event once, and enqueue a status check. Raises CallbackNotSigned, CallbackUnreadable."""
    event = parse_callback(headers, body)
    with transaction() as session:
        inserted = session.execute(
            insert(PayrailCallback).values(vars(event)).on_conflict_do_nothing().returning(PayrailCallback.event_id)
        )
        if inserted.first() is not None:
            enqueue_status_check(event)


OUTCOMES = {"paid": TransferOutcome.PAID, "failed": TransferOutcome.FAILED}


def check_transfer_now(payout_id: str) -> tuple[str, str]:
    """Ask the rail now; return its outcome and the payout's status. Raises NotResolvable for an unknown payout."""
    _get_status(payout_id)
    transfer_state = transfers.get_transfer_state(payout_id)
    return transfer_state.outcome.value, record_outcome(payout_id, transfer_state, actor=RAIL)


def resolve_payout(payout_id: str, outcome: str, note: str) -> str:
    """End a payout that needs review, and close its reviews; return its status. Raises NotResolvable."""
    if _get_status(payout_id) != NEEDS_REVIEW:
        raise NotResolvable(f"It is {_get_status(payout_id)}; only one that needs review is resolved by hand.")
    review_ids = [open_review.review.id for open_review in list_open_reviews(payout_id=payout_id)]
    release_connection()
    status = record_outcome(payout_id, TransferState(outcome=OUTCOMES[outcome], reason=note), actor=OPERATOR)
    if status in AWAITING_OUTCOME:
        raise NotResolvable(f"It is {status} still.")
    # A review that was created since, such as for another response of the rail, stays open.
    close_reviews(payout_id, note, review_ids=review_ids)
    return status


def find_merchant_id(id_or_email: str) -> str | None:
    """The id of a merchant by id or email address."""
    is_account = Account.id == id_or_email if is_id(id_or_email) else Account.email == id_or_email.strip().lower()
    return db.session.scalar(select(Account.id).where(is_account, Account.roles.contains(["merchant"])))


def _get_status(payout_id: str) -> str:
    status = db.session.scalar(select(Payout.status).where(Payout.id == payout_id))
    release_connection()
    if status is None:
        raise NotResolvable(f"There is no payout {payout_id}.")
    return status
