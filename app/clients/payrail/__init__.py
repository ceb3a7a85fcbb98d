"""The payment rail: mobile wallets behind one interface.

With a rail's address (`Settings.rail_url`) it is used over HTTP, by the protocol of docs/payrail.md. Without one every
order is 503 PAYRAIL_DISABLED. The mock rail is a server at such an address; it is not part of this program.

It must not be called inside a transaction: what the rail did must be recorded even if the transaction rolls back.
"""

import hashlib

from flask import Flask, current_app

from app.clients.payrail.breaker import Breaker
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.http_client import Credentials, RailClient
from app.clients.payrail.http_rail import HttpRail
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
    "init_app",
    "rail",
]


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions["payrail"] = _create_rail(settings)


def rail() -> Rail:
    """The rail of this application."""
    existing: Rail = current_app.extensions["payrail"]
    return existing


def _create_rail(settings: Settings) -> Rail:
    if settings.rail_url is None:
        return DisabledRail()
    credentials = Credentials(
        url=settings.rail_url,
        key=settings.PAYRAIL_KEY or "",
        secret=settings.PAYRAIL_SECRET or "",
        total=settings.PAYRAIL_TIMEOUT,
    )
    # Several rails may share one Redis, as in tests, so the keys of the breaker contain a hash of the URL.
    breaker = Breaker(settings.REDIS_URL, hashlib.sha256(credentials.url.encode()).hexdigest()[:12])
    return HttpRail(RailClient(credentials, breaker))
