"""Where a payout goes: decided at the request, sealed with it, and opened only to tell the rail."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from app.clients.payrail import BankAccount, Wallet
from app.core.tokens import derive
from app.core.transaction import transaction
from app.merchants import payout_details, vault
from app.payouts.models import Payout
from app.payouts.states import PAID

PAYRAIL, BANK = "payrail", "bank"
DESTINATIONS = (PAYRAIL, BANK)
NEEDED = {PAYRAIL: ("msisdn",), BANK: ("account_name", "account_number", "bank_name")}
EARLIER = 500


@dataclass(frozen=True)
class Target:
    """The details that a payout is sent with, and what may be shown of them."""

    sealed_to: bytes
    shown_as: str
    wallet_mark: str


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
    mark = mark_of(account_id, destination, details)
    shown = masked["msisdn"] if destination == PAYRAIL else f"{masked['bank_name'][:40]} {masked['account_number']}"
    return Target(vault.sealed(account_id, details), shown, mark)


def mark_of(account_id: str, destination: str, details: Mapping[str, Any]) -> str:
    """A keyed hash by which payouts of one merchant to one destination are known. Of a bank account every part counts,
    without case and extra blanks."""
    if destination == PAYRAIL:
        return wallet_mark(account_id, details["msisdn"])
    parts = (" ".join(str(details.get(name, "")).casefold().split()) for name in (*NEEDED[BANK], "branch_code"))
    return derive("payout-bank", account_id, *parts).hex()[:32]


def mark_earlier_payouts(account_id: str, wanted: str) -> bool:
    """Gives their mark to paid payouts to banks from the time before those had one; whether `wanted` is among them."""
    unmarked = (Payout.account_id == account_id, Payout.status == PAID, Payout.wallet_mark.is_(None))
    with transaction() as session:
        rows = session.execute(
            select(Payout.id, Payout.sealed_to).where(*unmarked, Payout.sealed_to.is_not(None)).limit(EARLIER)
        ).all()
        by_mark: dict[str, list[str]] = defaultdict(list)
        for payout_id, sealed in rows:
            details = vault.opened(account_id, sealed)
            if all(details.get(name) for name in NEEDED[BANK]):
                by_mark[mark_of(account_id, BANK, details)].append(payout_id)
        for mark, payout_ids in by_mark.items():
            statement = update(Payout).where(Payout.id.in_(payout_ids)).values(wallet_mark=mark)
            session.execute(statement.execution_options(synchronize_session=False))
    return wanted in by_mark


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
