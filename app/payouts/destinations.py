"""Where a payout goes: decided at the request, sealed with it, and opened only to tell the rail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.clients.payrail import BankAccount, Wallet
from app.core.tokens import derive
from app.merchants import payout_details, vault

PAYRAIL, BANK = "payrail", "bank"
DESTINATIONS = (PAYRAIL, BANK)
NEEDED = {PAYRAIL: ("msisdn",), BANK: ("account_name", "account_number", "bank_name")}


@dataclass(frozen=True)
class Target:
    """The details that a payout is sent with, and what may be shown of them."""

    sealed_to: bytes
    shown_as: str
    wallet_mark: str | None


def details_for(destination: str, msisdn: str | None, saved: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the destination needs, from the number given or the saved details; None when something is missing."""
    known = {**saved, "msisdn": msisdn} if msisdn and destination == PAYRAIL else saved
    if not all(known.get(name) for name in NEEDED[destination]):
        return None
    names = ("msisdn",) if destination == PAYRAIL else (*NEEDED[BANK], "branch_code")
    return {name: known[name] for name in names if known.get(name)}


def target(account_id: str, destination: str, details: dict[str, Any]) -> Target:
    """The details, sealed for their account."""
    masked = payout_details.masked(details)
    mark = wallet_mark(account_id, details["msisdn"]) if destination == PAYRAIL else None
    shown = masked["msisdn"] if destination == PAYRAIL else f"{masked['bank_name'][:40]} {masked['account_number']}"
    return Target(vault.sealed(account_id, details), shown, mark)


def wallet_mark(account_id: str, msisdn: str) -> str:
    """What a merchant's payouts to a wallet are found by, without the number standing in the database."""
    return derive("payout-wallet", account_id, msisdn).hex()[:32]


def opened(account_id: str, destination: str, sealed: bytes | None) -> Wallet | BankAccount | None:
    """The destination for the rail; None when it was erased, or sealed by a key that is gone."""
    details = vault.opened(account_id, sealed)
    if not all(details.get(name) for name in NEEDED[destination]):
        return None
    if destination == PAYRAIL:
        return Wallet(msisdn=details["msisdn"])
    return BankAccount(
        account_name=details["account_name"],
        account_number=details["account_number"],
        bank_name=details["bank_name"],
        branch_code=details.get("branch_code", ""),
    )
