"""Posting: the only way money moves between accounts, in one statement.

    post_transaction(session, HOLD, payout.id, owner_id, {MERCHANT_BALANCE: -5000, MERCHANT_HELD: 5000})

The balance changes by one conditional UPDATE; transaction and entries are inserted from its result. Callers lock their
own rows before they post, so the balance is always locked last.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.core.db import fetch_row
from app.ledger import sql
from app.ledger.errors import InsufficientFunds
from app.ledger.models import MERCHANT_ACCOUNTS, MERCHANT_BALANCE, MERCHANT_HELD, Balance


@dataclass(frozen=True)
class Balances:
    """What a merchant can request, and what is held for open payouts; cents of NAD."""

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
    """Post legs (account to cents) that sum to zero; return the merchant's new balances.

    Raises InsufficientFunds, after which the caller must roll back; psycopg's IntegrityError for a reference that was
    posted before. Callers check the state of their own object first, so they do not get that far.
    """
    if sum(legs.values()) or not all(legs.values()):
        raise ValueError(f"{kind} {reference}: the legs do not sum to zero")
    row = fetch_row(
        sql.POST_TRANSACTION,
        {
            "kind": kind,
            "reference": reference,
            "owner_id": owner_id,
            "description": description,
            "available_change": legs.get(MERCHANT_BALANCE, 0),
            "held_change": legs.get(MERCHANT_HELD, 0),
            "accounts": list(legs),
            "amounts": list(legs.values()),
            "amount": max(legs.values()),
        },
    )
    if row is None:
        raise InsufficientFunds(availableMinor=load_balances(session, owner_id).available_minor)
    return Balances(*row)


def post_event_transaction(
    kind: str, reference: str, organisation_id: str, event_id: str | None, legs: Mapping[str, int], *, description: str
) -> None:
    """Post legs (account to cents, not of a merchant) that sum to zero, for an organisation at an event.

    Raises psycopg's IntegrityError for a reference that was posted before.
    """
    if sum(legs.values()) or not all(legs.values()) or not set(legs).isdisjoint(MERCHANT_ACCOUNTS):
        raise ValueError(f"{kind} {reference}: the legs do not sum to zero")
    fetch_row(
        sql.POST_EVENT_TRANSACTION,
        {
            "kind": kind,
            "reference": reference,
            "owner_id": organisation_id,
            "event_id": event_id,
            "description": description,
            "accounts": list(legs),
            "amounts": list(legs.values()),
            "amount": max(legs.values()),
        },
    )


def load_balances(session: OrmSession, owner_id: str, *, lock: bool = False) -> Balances:
    """The current balances, read in the open transaction; zero for an account that never earned anything."""
    query = select(Balance.available_minor, Balance.held_minor).where(Balance.owner_id == owner_id)
    row = session.execute(query.with_for_update() if lock else query).first()
    return Balances(*row) if row else Balances(0, 0)
