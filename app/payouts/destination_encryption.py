"""Destinations of payouts: chosen and encrypted at the request, decrypted only for the call of the rail."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select, update

from app.clients.payrail import BankAccount, Wallet
from app.core.tokens import derive
from app.core.transaction import transaction
from app.merchants.payout_details import decrypt_payout_details, encrypt_payout_details, mask_payout_details
from app.payouts.models import Payout
from app.payouts.states import PAID

PAYRAIL, BANK = "payrail", "bank"
DESTINATIONS = (PAYRAIL, BANK)
DestinationDetails = Mapping[str, str]
"""Parts of a destination by name: `msisdn`, or those of a bank account; a merchant's saved details have both."""

REQUIRED_DETAILS = {PAYRAIL: ("msisdn",), BANK: ("account_name", "account_number", "bank_name")}
MAX_EARLIER_PAYOUTS = 500


@dataclass(frozen=True)
class EncryptedDestination:
    """The columns of a payout that hold its destination: encrypted, masked and hashed."""

    sealed_to: bytes
    shown_as: str
    wallet_mark: str


def choose_destination(destination: str | None, msisdn: str | None, saved_details: DestinationDetails) -> str:
    """The destination that was named; else the wallet whose number was sent; else the saved one."""
    return destination or (PAYRAIL if msisdn else saved_details.get("destination")) or PAYRAIL


def select_details(destination: str, msisdn: str | None, saved_details: DestinationDetails) -> dict[str, str] | None:
    """The parts that the destination needs, from `msisdn` or the saved details; None when one is missing."""
    available_details = {**saved_details, "msisdn": msisdn} if msisdn and destination == PAYRAIL else saved_details
    if not all(available_details.get(name) for name in REQUIRED_DETAILS[destination]):
        return None
    names = ("msisdn",) if destination == PAYRAIL else (*REQUIRED_DETAILS[BANK], "branch_code")
    return {name: available_details[name] for name in names if available_details.get(name)}


def encrypt_destination(account_id: str, destination: str, details: dict[str, str]) -> EncryptedDestination:
    """Encrypt the destination for its account."""
    masked_details = mask_payout_details(details)
    destination_hash = hash_destination(account_id, destination, details)
    masked_destination = (
        masked_details["msisdn"]
        if destination == PAYRAIL
        else f"{masked_details['bank_name'][:40]} {masked_details['account_number']}"
    )
    return EncryptedDestination(encrypt_payout_details(account_id, details), masked_destination, destination_hash)


def hash_destination(account_id: str, destination: str, details: DestinationDetails) -> str:
    """A keyed hash that is equal for payouts of one merchant to one destination.

    For a bank account it covers every part, without case and repeated blanks.
    """
    if destination == PAYRAIL:
        return hash_wallet(account_id, details["msisdn"])
    parts = (
        " ".join(str(details.get(name, "")).casefold().split()) for name in (*REQUIRED_DETAILS[BANK], "branch_code")
    )
    return derive("payout-bank", account_id, *parts).hex()[:32]


def hash_earlier_destinations(account_id: str, destination_hash: str) -> bool:
    """Hash the destinations of paid bank payouts from before `wallet_mark` covered banks.

    Returns whether `destination_hash` is among them. At most 500 payouts in one call.
    """
    without_hash = (Payout.account_id == account_id, Payout.status == PAID, Payout.wallet_mark.is_(None))
    with transaction() as session:
        rows = session.execute(
            select(Payout.id, Payout.sealed_to)
            .where(*without_hash, Payout.sealed_to.is_not(None))
            .limit(MAX_EARLIER_PAYOUTS)
        ).all()
        payout_ids_by_hash: dict[str, list[str]] = defaultdict(list)
        for payout_id, encrypted_details in rows:
            details = decrypt_payout_details(account_id, encrypted_details)
            if all(details.get(name) for name in REQUIRED_DETAILS[BANK]):
                payout_ids_by_hash[hash_destination(account_id, BANK, details)].append(payout_id)
        for payout_hash, payout_ids in payout_ids_by_hash.items():
            statement = update(Payout).where(Payout.id.in_(payout_ids)).values(wallet_mark=payout_hash)
            session.execute(statement.execution_options(synchronize_session=False))
    return destination_hash in payout_ids_by_hash


def hash_wallet(account_id: str, msisdn: str) -> str:
    """A keyed hash by which payouts to a wallet are found; the number itself is not in the database."""
    return derive("payout-wallet", account_id, msisdn).hex()[:32]


def decrypt_destination(
    account_id: str, destination: str, encrypted_details: bytes | None
) -> Wallet | BankAccount | None:
    """The destination for the rail; None when it was erased, or encrypted with a key that no longer exists."""
    details = decrypt_payout_details(account_id, encrypted_details)
    if not all(details.get(name) for name in REQUIRED_DETAILS[destination]):
        return None
    if destination == PAYRAIL:
        return Wallet(msisdn=details["msisdn"])
    return BankAccount(
        account_name=details["account_name"],
        account_number=details["account_number"],
        bank_name=details["bank_name"],
        branch_code=details.get("branch_code", ""),
    )
