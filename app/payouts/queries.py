"""Reads of payouts, always limited to their owner."""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple, NotRequired, TypedDict, Unpack

from sqlalchemy import ColumnElement, Select, literal, select

from app.accounts.caller import Caller
from app.core.db import db, fetch_row
from app.core.errors import NotFound
from app.core.formatting import HOME, format_money, format_time
from app.events.timezones import to_instant
from app.ledger.errors import InsufficientFunds
from app.ledger.transactions import Balances
from app.merchants.errors import MerchantPaused
from app.merchants.payout_details import decrypt_payout_details
from app.merchants.states import PAUSED
from app.payouts import destination_encryption, sql, transfers
from app.payouts.errors import PayoutDetailsMissing
from app.payouts.models import CURRENCY, Payout, PayoutEvent
from app.payouts.states import CANCELLABLE, CANCELLED, FINAL_STATES, OPEN_STATES

SORTS: dict[str, Any] = {
    "createdAt": Payout.created_at,
    "amountMinor": Payout.amount_minor,
}


class PayoutStep(NamedTuple):
    """A step in the history of a payout."""

    status: str
    at: datetime
    actor: str
    reason: str | None


@dataclass(frozen=True)
class PayoutSummary:
    """A payout as its owner sees it. Amounts are in cents."""

    id: str
    amount_minor: int
    destination: str
    shown_as: str
    mode: str
    scheduled_for: datetime | None
    status: str
    reason: str | None
    held_until: datetime | None
    created_at: datetime
    updated_at: datetime
    submitted_at: datetime | None
    settled_at: datetime | None
    version: int
    on_hold: bool = False
    """Whether it waits because the merchant has paused. After an action it never does."""
    history: Sequence[PayoutStep] = ()
    """Only `get_payout` loads it."""

    @property
    def currency(self) -> str:
        return CURRENCY

    @property
    def conclusive(self) -> bool:
        return self.status in FINAL_STATES


PAYOUT_COLUMNS = tuple(field.name for field in fields(PayoutSummary) if field.default is MISSING)


class PayoutFilters(TypedDict, total=False):
    """Filters of the list of payouts. All are exact."""

    id: str
    amount_minor: int
    destination: str
    mode: str
    scheduled_for: datetime
    payrail_msisdn: str
    idempotency_key: str
    status: str


@dataclass(frozen=True)
class StoppablePayout:
    """The little of a payout that the page behind a stop link shows, because anybody with the link can read it."""

    amount: str
    destination: str
    leaves: str
    cancellable: bool
    cancelled: bool


class PayoutQuestion(TypedDict, total=False):
    """A payout that is only asked about: could it be requested now?"""

    amount_minor: int
    destination: str
    mode: str
    scheduled_for: datetime
    payrail_msisdn: str
    idempotency_key: str


class Availability(TypedDict):
    """The caller's balances; with an amount, whether it could be paid out, and the error codes if not."""

    balance_minor: int
    held_minor: int
    available_minor: int
    currency: str
    next_payout_at: datetime | None
    payable: NotRequired[bool]
    reasons: NotRequired[list[str]]


def list_payouts_query(caller: Caller, **filters: Unpack[PayoutFilters]) -> Select[tuple[Any, ...]]:
    """The caller's payouts. A `scheduled_for` without a time means that day in Windhoek."""
    is_on_hold = Payout.status.in_(CANCELLABLE) & transfers.merchant_paused_sql()
    statement = select(
        *(getattr(Payout, name) for name in PAYOUT_COLUMNS),
        literal(CURRENCY).label("currency"),
        is_on_hold.label("on_hold"),
        Payout.status.in_(FINAL_STATES).label("conclusive"),
    ).where(Payout.account_id == caller.merchant_id)
    return statement.where(*_build_filters(caller, filters))


def _build_filters(caller: Caller, filters: PayoutFilters) -> Iterator[ColumnElement[bool]]:
    for name, value in filters.items():
        if name == "payrail_msisdn":
            yield Payout.wallet_mark == destination_encryption.hash_wallet(
                caller.merchant_id, filters["payrail_msisdn"]
            )
        elif name == "scheduled_for":
            yield _build_schedule_filter(filters["scheduled_for"])
        else:
            yield getattr(Payout, name) == value


def _build_schedule_filter(moment: datetime) -> ColumnElement[bool]:
    start = to_instant(moment, HOME)
    is_whole_day = moment.tzinfo is None and (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    if not is_whole_day:
        return Payout.scheduled_for == start
    end = to_instant(moment + timedelta(days=1), HOME)
    return (Payout.scheduled_for >= start) & (Payout.scheduled_for < end)


def list_open_payouts(caller: Caller) -> list[PayoutSummary]:
    """The caller's payouts that have not ended, for which their amounts are held, the newest first."""
    return _load_summaries(list_payouts_query(caller).where(Payout.status.in_(OPEN_STATES)))


def list_latest_payouts(caller: Caller, *, limit: int) -> list[PayoutSummary]:
    """The caller's newest payouts."""
    return _load_summaries(list_payouts_query(caller).limit(limit))


def _load_summaries(statement: Select[tuple[Any, ...]]) -> list[PayoutSummary]:
    rows = db.session.execute(statement.order_by(Payout.created_at.desc(), Payout.id.desc())).mappings()
    return [PayoutSummary(**{name: row[name] for name in PAYOUT_COLUMNS}, on_hold=bool(row["on_hold"])) for row in rows]


def get_payout(caller: Caller, id: str) -> PayoutSummary:
    """A payout with its history. Raises NotFound."""
    row = db.session.execute(list_payouts_query(caller, id=id)).mappings().first()
    if row is None:
        raise NotFound()
    steps = db.session.execute(
        select(PayoutEvent.to_status, PayoutEvent.at, PayoutEvent.actor, PayoutEvent.reason)
        .where(PayoutEvent.payout_id == id)
        .order_by(PayoutEvent.id)
    )
    columns = {name: row[name] for name in PAYOUT_COLUMNS}
    return PayoutSummary(**columns, on_hold=row["on_hold"], history=[PayoutStep(*step) for step in steps])


def summarize_payout(payout: Payout) -> PayoutSummary:
    """The payout after an action."""
    return PayoutSummary(**{name: getattr(payout, name) for name in PAYOUT_COLUMNS})


def find_stoppable_payout(payout_id: str) -> StoppablePayout | None:
    """The payout of a stop link, or None."""
    payout = db.session.get(Payout, payout_id)
    if payout is None:
        return None
    leaves_at = max(
        (earliest_time for earliest_time in (payout.held_until, payout.scheduled_for) if earliest_time),
        default=payout.created_at,
    )
    return StoppablePayout(
        amount=format_money(payout.amount_minor),
        destination=payout.shown_as,
        leaves=format_time(leaves_at),
        cancellable=payout.status in CANCELLABLE,
        cancelled=payout.status == CANCELLED,
    )


def load_availability(caller: Caller, **question: Unpack[PayoutQuestion]) -> Availability:
    """The caller's balances in cents; with `amount_minor`, whether that amount could be paid out now."""
    row = fetch_row(sql.AVAILABILITY, {"account_id": caller.merchant_id})
    assert row is not None
    available_minor, held_minor, merchant_status, encrypted_details, next_payout_at = row
    balances = Balances(available_minor or 0, held_minor or 0)
    availability: Availability = {
        "balance_minor": balances.balance_minor,
        "held_minor": balances.held_minor,
        "available_minor": balances.available_minor,
        "currency": CURRENCY,
        "next_payout_at": next_payout_at,
    }
    if "amount_minor" in question:
        saved_details = decrypt_payout_details(caller.merchant_id, encrypted_details)
        reasons = list(_list_refusal_codes(caller, balances, merchant_status, saved_details, question))
        availability["payable"], availability["reasons"] = not reasons, reasons
    return availability


def _list_refusal_codes(
    caller: Caller,
    balances: Balances,
    merchant_status: str | None,
    saved_details: destination_encryption.DestinationDetails,
    question: PayoutQuestion,
) -> Iterator[str]:
    """The codes of the errors that a request would get."""
    msisdn = question.get("payrail_msisdn")
    destination = destination_encryption.choose_destination(question.get("destination"), msisdn, saved_details)
    if not caller.email_verified:
        yield "EMAIL_NOT_VERIFIED"
    if merchant_status == PAUSED:
        yield MerchantPaused.code
    if destination_encryption.select_details(destination, msisdn, saved_details) is None:
        yield PayoutDetailsMissing.code
    if question["amount_minor"] > balances.available_minor:
        yield InsufficientFunds.code
    if not transfers.is_rail_enabled():
        yield "PAYRAIL_DISABLED"
