"""Reads of payouts, always through their owner."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, literal, select
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.caller import Caller
from app.core.date_format import HOME, format_time
from app.core.db import db, fetch_row
from app.core.errors import NotFound
from app.core.money import format_money
from app.events.time_conversion import to_instant
from app.ledger.errors import InsufficientFunds
from app.ledger.transactions import Balances
from app.merchants import payout_encryption
from app.merchants.errors import MerchantPaused
from app.merchants.states import PAUSED
from app.payouts import destinations, transfers
from app.payouts.errors import PayoutDetailsMissing
from app.payouts.models import Payout, PayoutEvent
from app.payouts.states import CANCELLABLE, CANCELLED, FINAL_STATES

CURRENCY = "NAD"
SORTS: dict[str, Any] = {
    "createdAt": Payout.created_at,
    "amountMinor": Payout.amount_minor,
}
PAYOUT_COLUMNS = (
    "id",
    "amount_minor",
    "destination",
    "shown_as",
    "mode",
    "scheduled_for",
    "status",
    "reason",
    "held_until",
    "created_at",
    "updated_at",
    "submitted_at",
    "settled_at",
    "version",
)
# One row, by primary keys and the index of scheduled payouts: the ledger is not looked at.
AVAILABILITY_SQL = """
    SELECT p.available_minor, p.held_minor, m.status, m.payout_details,
           (SELECT min(scheduled_for) FROM payout WHERE account_id = a.id AND status = 'scheduled')
      FROM (SELECT CAST(%s AS text) COLLATE "C" AS id) a
      LEFT JOIN ledger_purse p ON p.owner_id = a.id
      LEFT JOIN merchant m ON m.account_id = a.id AND m.profile_id IS NOT NULL
"""


def list_payouts_query(caller: Caller, **filters: Any) -> Select[Any]:
    """The caller's payouts; filters are exact, and a date without a time means that day in Windhoek."""
    columns = [getattr(Payout, name) for name in PAYOUT_COLUMNS]
    is_on_hold = Payout.status.in_(CANCELLABLE) & transfers.merchant_paused_sql()
    statement = select(
        *columns,
        literal(CURRENCY).label("currency"),
        is_on_hold.label("on_hold"),
        Payout.status.in_(FINAL_STATES).label("conclusive"),
    ).where(Payout.account_id == caller.id)
    return statement.where(*(_build_filter(caller, name, value) for name, value in filters.items()))


def _build_filter(caller: Caller, name: str, value: Any) -> ColumnElement[bool]:
    if name == "payrail_msisdn":
        return Payout.wallet_mark == destinations.hash_wallet(caller.id, value)
    if name == "scheduled_for":
        return _build_schedule_filter(value)
    condition: ColumnElement[bool] = getattr(Payout, name) == value
    return condition


def _build_schedule_filter(value: datetime) -> ColumnElement[bool]:
    start = to_instant(value, HOME)
    is_whole_day = value.tzinfo is None and (value.hour, value.minute, value.second) == (0, 0, 0)
    end = to_instant(value + timedelta(days=1), HOME) if is_whole_day else start
    return (
        (Payout.scheduled_for >= start) & (Payout.scheduled_for < end)
        if is_whole_day
        else Payout.scheduled_for == start
    )


def get_payout(caller: Caller, id: str) -> dict[str, Any]:
    """A payout with its history. Raises NotFound."""
    row = db.session.execute(list_payouts_query(caller, id=id)).mappings().first()
    if row is None:
        raise NotFound()
    events_query = select(PayoutEvent.to_status.label("status"), PayoutEvent.at, PayoutEvent.actor, PayoutEvent.reason)
    history = (
        db.session.execute(events_query.where(PayoutEvent.payout_id == id).order_by(PayoutEvent.id)).mappings().all()
    )
    return {**row, "history": history}


def serialize_payout(payout: Payout) -> dict[str, Any]:
    """What an action answers: the payout as the list has it. Anyone who could act has not paused."""
    return serialize_payout_row({name: getattr(payout, name) for name in PAYOUT_COLUMNS})


def serialize_payout_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same from the columns."""
    return {**row, "currency": CURRENCY, "on_hold": False, "conclusive": row["status"] in FINAL_STATES}


def find_stoppable_payout(payout_id: str) -> dict[str, Any] | None:
    """What the page that stops a payout shows of it: little, for anyone who has the link sees it."""
    payout = db.session.get(Payout, payout_id)
    if payout is None:
        return None
    leaves_at = max(
        (earliest_time for earliest_time in (payout.held_until, payout.scheduled_for) if earliest_time),
        default=payout.created_at,
    )
    return {
        "amount": format_money(payout.amount_minor),
        "destination": payout.shown_as,
        "leaves": format_time(leaves_at),
        "cancellable": payout.status in CANCELLABLE,
        "cancelled": payout.status == CANCELLED,
    }


def load_availability(caller: Caller, **payout_request: Any) -> dict[str, Any]:
    """What the caller has and may spend, and with an amount whether it could be paid out, and if not why."""
    row = fetch_row(AVAILABILITY_SQL, (caller.id,))
    assert row is not None
    balances = Balances(row[0] or 0, row[1] or 0)
    response = {
        "balance_minor": balances.balance_minor,
        "held_minor": balances.held_minor,
        "available_minor": balances.available_minor,
        "currency": CURRENCY,
        "next_payout_at": row[4],
    }
    if "amount_minor" not in payout_request:
        return response
    reasons = list(
        _list_refusal_codes(
            caller, balances, row[2], payout_encryption.decrypt_payout_details(caller.id, row[3]), payout_request
        )
    )
    return {**response, "payable": not reasons, "reasons": reasons}


def _list_refusal_codes(
    caller: Caller,
    balances: Balances,
    status: str | None,
    saved_details: Mapping[str, Any],
    payout_request: Mapping[str, Any],
) -> Any:
    """The codes that a request would be refused with."""
    destination = payout_request.get("destination") or saved_details.get("destination") or destinations.PAYRAIL
    if not caller.email_verified:
        yield "EMAIL_NOT_VERIFIED"
    if status == PAUSED:
        yield MerchantPaused.code
    if destinations.select_details(destination, payout_request.get("payrail_msisdn"), saved_details) is None:
        yield PayoutDetailsMissing.code
    if payout_request["amount_minor"] > balances.available_minor:
        yield InsufficientFunds.code
    if not transfers.is_rail_enabled():
        yield "PAYRAIL_DISABLED"
