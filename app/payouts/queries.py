"""Reads of payouts, always through their owner."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, literal, select
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.caller import Caller
from app.core.dates import HOME, moment
from app.core.db import db, fetch_row
from app.core.errors import NotFound
from app.core.money import spoken
from app.events.times import instant
from app.ledger.errors import InsufficientFunds
from app.ledger.posting import Balances
from app.merchants import vault
from app.merchants.errors import MerchantPaused
from app.merchants.states import PAUSED
from app.payouts import destinations, submitting
from app.payouts.errors import PayoutDetailsMissing
from app.payouts.models import Payout, PayoutEvent
from app.payouts.states import CANCELLABLE, CANCELLED, CONCLUSIVE

CURRENCY = "NAD"
SORTS: dict[str, Any] = {
    "createdAt": Payout.created_at,
    "amountMinor": Payout.amount_minor,
}
SHOWN = (
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
AVAILABILITY = """
    SELECT p.available_minor, p.held_minor, m.status, m.payout_details,
           (SELECT min(scheduled_for) FROM payout WHERE account_id = a.id AND status = 'scheduled')
      FROM (SELECT CAST(%s AS text) COLLATE "C" AS id) a
      LEFT JOIN ledger_purse p ON p.owner_id = a.id
      LEFT JOIN merchant m ON m.account_id = a.id AND m.profile_id IS NOT NULL
"""


def listed(caller: Caller, **filters: Any) -> Select[Any]:
    """The caller's payouts; filters are exact, and a date without a time means that day in Windhoek."""
    columns = [getattr(Payout, name) for name in SHOWN]
    held_back = Payout.status.in_(CANCELLABLE) & submitting.paused()
    statement = select(
        *columns,
        literal(CURRENCY).label("currency"),
        held_back.label("on_hold"),
        Payout.status.in_(CONCLUSIVE).label("conclusive"),
    ).where(Payout.account_id == caller.id)
    return statement.where(*(_filter(caller, name, value) for name, value in filters.items()))


def _filter(caller: Caller, name: str, value: Any) -> ColumnElement[bool]:
    if name == "payrail_msisdn":
        return Payout.wallet_mark == destinations.wallet_mark(caller.id, value)
    if name == "scheduled_for":
        return _when(value)
    found: ColumnElement[bool] = getattr(Payout, name) == value
    return found


def _when(value: datetime) -> ColumnElement[bool]:
    at = instant(value, HOME)
    bare = value.tzinfo is None and (value.hour, value.minute, value.second) == (0, 0, 0)
    end = instant(value + timedelta(days=1), HOME) if bare else at
    return (Payout.scheduled_for >= at) & (Payout.scheduled_for < end) if bare else Payout.scheduled_for == at


def one(caller: Caller, id: str) -> dict[str, Any]:
    """A payout with its history. Raises NotFound."""
    row = db.session.execute(listed(caller, id=id)).mappings().first()
    if row is None:
        raise NotFound()
    steps = select(PayoutEvent.to_status.label("status"), PayoutEvent.at, PayoutEvent.actor, PayoutEvent.reason)
    history = db.session.execute(steps.where(PayoutEvent.payout_id == id).order_by(PayoutEvent.id)).mappings().all()
    return {**row, "history": history}


def shown(payout: Payout) -> dict[str, Any]:
    """What an action answers: the payout as the list has it. Whoever could act has not paused."""
    return told({name: getattr(payout, name) for name in SHOWN})


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same from the columns."""
    return {**row, "currency": CURRENCY, "on_hold": False, "conclusive": row["status"] in CONCLUSIVE}


def stoppable(payout_id: str) -> dict[str, Any] | None:
    """What the page that stops a payout shows of it: little, for whoever has the link sees it."""
    payout = db.session.get(Payout, payout_id)
    if payout is None:
        return None
    leaves = max((item for item in (payout.held_until, payout.scheduled_for) if item), default=payout.created_at)
    return {
        "amount": spoken(payout.amount_minor),
        "destination": payout.shown_as,
        "leaves": moment(leaves),
        "cancellable": payout.status in CANCELLABLE,
        "cancelled": payout.status == CANCELLED,
    }


def availability(caller: Caller, **wish: Any) -> dict[str, Any]:
    """What the caller has and may spend, and with an amount whether it could be paid out, and if not why."""
    row = fetch_row(AVAILABILITY, (caller.id,))
    assert row is not None
    balances = Balances(row[0] or 0, row[1] or 0)
    told = {
        "balance_minor": balances.balance_minor,
        "held_minor": balances.held_minor,
        "available_minor": balances.available_minor,
        "currency": CURRENCY,
        "next_payout_at": row[4],
    }
    if "amount_minor" not in wish:
        return told
    reasons = list(_reasons(caller, balances, row[2], vault.opened(caller.id, row[3]), wish))
    return {**told, "payable": not reasons, "reasons": reasons}


def _reasons(
    caller: Caller, balances: Balances, status: str | None, saved: Mapping[str, Any], wish: Mapping[str, Any]
) -> Any:
    """The codes that a request would be refused with."""
    destination = wish.get("destination") or saved.get("destination") or destinations.PAYRAIL
    if not caller.email_verified:
        yield "EMAIL_NOT_VERIFIED"
    if status == PAUSED:
        yield MerchantPaused.code
    if destinations.details_for(destination, wish.get("payrail_msisdn"), saved) is None:
        yield PayoutDetailsMissing.code
    if wish["amount_minor"] > balances.available_minor:
        yield InsufficientFunds.code
    if not submitting.usable():
        yield "PAYRAIL_DISABLED"
