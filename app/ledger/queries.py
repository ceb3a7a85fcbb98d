"""Reads of the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.core.db import db
from app.ledger.models import BALANCE, HELD, OF_MERCHANT, LedgerEntry, LedgerTransaction
from app.ledger.posting import Balances


@dataclass(frozen=True)
class Movement:
    """A transaction as a merchant's statement shows it: what it changed for him, and what he had afterwards."""

    posted_at: datetime
    kind: str
    reference: str
    description: str | None
    amount_minor: int
    balance_minor: int


@dataclass(frozen=True)
class Period:
    """What a merchant had at the beginning, what moved, and what he had at the end."""

    opening: Balances
    movements: Sequence[Movement]
    closing: Balances


def period(owner_id: str, since: datetime, until: datetime) -> Period:
    """The merchant's movements of a span of time. Three reads by index, however long the ledger is."""
    opening = _last_before(owner_id, since)
    rows = db.session.execute(
        select(
            LedgerTransaction.id,
            LedgerEntry.posted_at,
            LedgerTransaction.kind,
            LedgerTransaction.reference,
            LedgerTransaction.description,
            LedgerEntry.account,
            LedgerEntry.amount_minor,
        )
        .join(LedgerTransaction, LedgerTransaction.id == LedgerEntry.transaction_id)
        .where(
            LedgerEntry.owner_id == owner_id,
            LedgerEntry.posted_at >= since,
            LedgerEntry.posted_at < until,
            LedgerEntry.account.in_(OF_MERCHANT),
        )
        .order_by(LedgerEntry.posted_at, LedgerEntry.id)
    ).all()
    now = {BALANCE: opening.available_minor, HELD: opening.held_minor}
    movements: dict[int, Movement] = {}
    for row in rows:
        now[row.account] += row.amount_minor
        before = movements.get(row.id)
        change = row.amount_minor + (before.amount_minor if before else 0)
        movements[row.id] = Movement(row.posted_at, row.kind, row.reference, row.description, change, sum(now.values()))
    return Period(opening, list(movements.values()), Balances(now[BALANCE], now[HELD]))


def _last_before(owner_id: str, moment: datetime) -> Balances:
    found = {
        account: db.session.scalar(
            select(LedgerEntry.balance_after_minor)
            .where(LedgerEntry.owner_id == owner_id, LedgerEntry.posted_at < moment, LedgerEntry.account == account)
            .order_by(LedgerEntry.posted_at.desc(), LedgerEntry.id.desc())
            .limit(1)
        )
        for account in OF_MERCHANT
    }
    return Balances(found[BALANCE] or 0, found[HELD] or 0)
