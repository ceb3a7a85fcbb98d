"""post(): the only way money moves between accounts, in one statement.

    post(session, HOLD, payout.id, owner_id, {BALANCE: -5000, HELD: 5000})

The purse moves by one conditional UPDATE, and transaction and entries follow from what it answers; where there is
too little, no row comes back and nothing is written. It takes the purse last, after whatever rows the caller locks.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row
from app.ledger.errors import InsufficientFunds
from app.ledger.models import MERCHANT_BALANCE, MERCHANT_HELD, Balance

SUFFICIENT_FUNDS_SQL = "available_minor + %(balance)s >= 0 AND held_minor + %(held)s >= 0"
POST_TRANSACTION_SQL = """
    WITH purse AS (
        UPDATE ledger_purse SET available_minor = available_minor + %(balance)s, held_minor = held_minor + %(held)s
         WHERE owner_id = %(owner)s AND {enough}
        RETURNING available_minor, held_minor
    ), posted AS (
        INSERT INTO ledger_transaction (kind, reference, owner_id, amount_minor, description)
        SELECT %(kind)s, %(reference)s, %(owner)s, %(amount)s, %(description)s FROM purse RETURNING id
    ), legs AS (
        INSERT INTO ledger_entry (transaction_id, owner_id, account, amount_minor, balance_after_minor)
        SELECT posted.id, %(owner)s, leg.account, leg.amount,
               CASE leg.account WHEN 'merchant_balance' THEN available_minor WHEN 'merchant_held' THEN held_minor END
          FROM purse, posted, unnest(%(accounts)s::text[], %(amounts)s::bigint[]) AS leg (account, amount)
    )
    SELECT available_minor, held_minor FROM purse
"""
_CHECKED_POST_SQL = POST_TRANSACTION_SQL.format(enough=SUFFICIENT_FUNDS_SQL)


@dataclass(frozen=True)
class Balances:
    """What a merchant may spend, and what is on its way; cents of NAD."""

    available_minor: int
    held_minor: int

    @property
    def balance_minor(self) -> int:
        return self.available_minor + self.held_minor


def post_transaction(
    session: OrmSession,
    kind: str,
    reference: str,
    owner_id: str,
    legs: Mapping[str, int],
    *,
    description: str | None = None,
) -> Balances:
    """The merchant's balances after legs that sum to zero are booked on their accounts and the house's.

    Raises InsufficientFunds, after which the transaction must be given up; psycopg's IntegrityError for a reference
    that was booked already: anyone who posts has a state machine that comes first.
    """
    if sum(legs.values()) or not all(legs.values()):
        raise ValueError(f"{kind} {reference}: the legs do not sum to zero")
    row = fetch_row(
        _CHECKED_POST_SQL,
        {
            "kind": kind,
            "reference": reference,
            "owner": owner_id,
            "description": description,
            "balance": legs.get(MERCHANT_BALANCE, 0),
            "held": legs.get(MERCHANT_HELD, 0),
            "accounts": list(legs),
            "amounts": list(legs.values()),
            "amount": max(legs.values()),
        },
    )
    if row is None:
        raise InsufficientFunds(availableMinor=load_balances(session, owner_id).available_minor)
    return Balances(*row)


def load_balances(session: OrmSession, owner_id: str, *, lock: bool = False) -> Balances:
    """The balances as they stand, within a transaction; zero for anyone who never earned anything."""
    query = select(Balance.available_minor, Balance.held_minor).where(Balance.owner_id == owner_id)
    row = session.execute(query.with_for_update() if lock else query).first()
    return Balances(*row) if row else Balances(0, 0)
