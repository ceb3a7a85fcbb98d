"""The payment rail: mobile wallets behind one interface, in one of three modes (PAYRAIL_MODE).

    mock       deterministic, moves no money, code 123456 (see rules.py for the numbers that misbehave)
    disabled   every use is 503 PAYRAIL_DISABLED
    live       over HTTP

Nobody may call it inside a transaction: what the rail did must be written down whatever the database says later.
"""

from flask import current_app

from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.errors import LiveRailMissing
from app.clients.payrail.interface import (
    BankAccount,
    Charge,
    Outcome,
    Rail,
    Transfer,
    TransferOutcome,
    TransferState,
    Wallet,
)
from app.clients.payrail.mock import MockRail

__all__ = [
    "BankAccount",
    "Charge",
    "Outcome",
    "Rail",
    "Transfer",
    "TransferOutcome",
    "TransferState",
    "Wallet",
    "rail",
]


def rail() -> Rail:
    """The rail of this application. Raises LiveRailMissing for a mode that this version cannot serve."""
    known: Rail | None = current_app.extensions.get("payrail")
    if known is None:
        known = current_app.extensions["payrail"] = _made(current_app.extensions["settings"].PAYRAIL_MODE)
    return known


def _made(mode: str) -> Rail:
    if mode == "mock":
        return MockRail()
    if mode == "disabled":
        return DisabledRail()
    raise LiveRailMissing()
