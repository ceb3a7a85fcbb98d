"""The payment rail: mobile wallets behind one interface, in one of three modes (PAYRAIL_MODE).

    mock       deterministic, moves no money, code 123456 (see rules.py for the numbers that misbehave)
    disabled   every use is 503 PAYRAIL_DISABLED
    live       over HTTP, by the protocol of docs/payrail.md

Nobody may call it inside a transaction: what the rail did must be written down whatever the database says later.
"""

import hashlib

from flask import current_app

from app.clients.payrail.breaker import Breaker
from app.clients.payrail.credentials import Account
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.http_client import Exchange
from app.clients.payrail.http_rail import LiveRail
from app.clients.payrail.interface import (
    BankAccount,
    Charge,
    ChargeState,
    Outcome,
    Rail,
    Transfer,
    TransferOutcome,
    TransferState,
    Wallet,
)
from app.clients.payrail.mock import MockRail
from app.config import Settings

__all__ = [
    "BankAccount",
    "Charge",
    "ChargeState",
    "Outcome",
    "Rail",
    "Transfer",
    "TransferOutcome",
    "TransferState",
    "Wallet",
    "rail",
]


def rail() -> Rail:
    """The rail of this application."""
    known: Rail | None = current_app.extensions.get("payrail")
    if known is None:
        known = current_app.extensions["payrail"] = _create_rail(current_app.extensions["settings"])
    return known


def _create_rail(settings: Settings) -> Rail:
    if settings.PAYRAIL_MODE == "mock":
        return MockRail()
    if settings.PAYRAIL_MODE == "disabled":
        return DisabledRail()
    account = Account(
        url=settings.PAYRAIL_URL or "",
        key=settings.PAYRAIL_KEY or "",
        secret=settings.PAYRAIL_SECRET or "",
        total=settings.PAYRAIL_TIMEOUT,
    )
    # Several rails may share one Redis, as tests do: each has a breaker of its own.
    breaker = Breaker(settings.REDIS_URL, hashlib.sha256(account.url.encode()).hexdigest()[:12])
    return LiveRail(Exchange(account, breaker))
