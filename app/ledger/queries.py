"""Reads of the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.core.db import db
from app.ledger.models import MERCHANT_ACCOUNTS, MERCHANT_BALANCE, MERCHANT_HELD, LedgerEntry, LedgerTransaction
from app.ledger.transactions import Balances


@dataclass(frozen=True)
class LedgerMovement:
    """A transaction on a merchant's statement: the change of their balance, and the balance after it, in cents."""

    posted_at: datetime
    kind: str
    reference: str
    description: str | None
    amount_minor: int
    balance_minor: int


@dataclass(frozen=True)
class LedgerPeriod:
    """Opening balances, movements and closing balances of a merchant."""

    opening: Balances
    movements: Sequence[LedgerMovement]
    closing: Balances


def load_ledger_period(owner_id: str, since: datetime, until: datetime) -> LedgerPeriod:
    """The merchant's movements from `since` to before `until`. Three index reads, whatever the size of the ledger."""
    opening = _load_balances_before(owner_id, since)
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
            LedgerEntry.account.in_(MERCHANT_ACCOUNTS),
        )
        .order_by(LedgerEntry.posted_at, LedgerEntry.id)
    ).all()
    running_balances = {MERCHANT_BALANCE: opening.available_minor, MERCHANT_HELD: opening.held_minor}
    movements: dict[int, LedgerMovement] = {}
    for row in rows:
        running_balances[row.account] += row.amount_minor
        earlier_leg = movements.get(row.id)
        amount_minor = row.amount_minor + (earlier_leg.amount_minor if earlier_leg else 0)
        movements[row.id] = LedgerMovement(
            row.posted_at, row.kind, row.reference, row.description, amount_minor, sum(running_balances.values())
        )
    return LedgerPeriod(
        opening, list(movements.values()), Balances(running_balances[MERCHANT_BALANCE], running_balances[MERCHANT_HELD])
    )


def _load_balances_before(owner_id: str, moment: datetime) -> Balances:
    balances = {
        account: db.session.scalar(
            select(LedgerEntry.balance_after_minor)
            .where(LedgerEntry.owner_id == owner_id, LedgerEntry.posted_at < moment, LedgerEntry.account == account)
            .order_by(LedgerEntry.posted_at.desc(), LedgerEntry.id.desc())
            .limit(1)
        )
        for account in MERCHANT_ACCOUNTS
    }
    return Balances(balances[MERCHANT_BALANCE] or 0, balances[MERCHANT_HELD] or 0)
