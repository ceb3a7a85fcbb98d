"""The interface of payment rails. References are ours; sending the same reference again is the same charge or transfer."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """The state of a charge at the rail."""

    CODE_SENT = "code_sent"
    """The wallet's owner got a code, which the rail waits for."""
    PAID = "paid"
    DECLINED = "declined"
    EXPIRED = "expired"
    """The code has expired: nothing was taken, and a confirmation takes nothing any more."""
    REFUNDED = "refunded"
    """The money was taken and given back."""
    WRONG_CODE = "wrong_code"
    UNKNOWN = "unknown"
    """No usable response: the money may have moved. Ask `charge_status` later; never start another charge."""


class TransferOutcome(StrEnum):
    """The state of a transfer at the rail."""

    ACCEPTED = "accepted"
    """The rail will carry it out; it is not settled yet."""
    PAID = "paid"
    FAILED = "failed"
    """Final: no money moved."""
    RETURNED = "returned"
    """It was paid and came back."""
    UNKNOWN = "unknown"
    """No usable response: the money may have moved. Ask `transfer_status`, or send the same reference again."""
    NOT_FOUND = "not_found"
    """The rail says that it does not know the reference, so it has carried out nothing under it."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A payment to be taken from a wallet; the amount is in cents."""

    reference: str
    amount_minor: int
    msisdn: str = field(repr=False)
    description: str
    currency: str = "NAD"


@dataclass(frozen=True, kw_only=True)
class ChargeState:
    """The state of a charge, and the amount in cents that the rail names, if it does."""

    outcome: Outcome
    amount_minor: int | None = None
    currency: str | None = None


@dataclass(frozen=True, kw_only=True)
class Wallet:
    """A mobile wallet, by its telephone number."""

    msisdn: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class BankAccount:
    """A bank account."""

    account_name: str = field(repr=False)
    account_number: str = field(repr=False)
    bank_name: str
    branch_code: str


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """A payment to be sent; the amount is in cents."""

    reference: str
    amount_minor: int
    currency: str = "NAD"
    destination: Wallet | BankAccount
    description: str


@dataclass(frozen=True, kw_only=True)
class TransferState:
    """The state of a transfer, and the amount in cents that the rail names, if it does."""

    outcome: TransferOutcome
    reason: str | None = None
    amount_minor: int | None = None
    currency: str | None = None


class Rail(Protocol):
    """A payment rail. An unknown outcome is returned as UNKNOWN, never raised."""

    def check(self) -> None:
        """Raise PayrailDisabled if the rail cannot be used. Sends nothing."""

    def reachable(self) -> bool:
        """Whether the rail responds; the result may be a few seconds old. Takes less than a second."""

    def breaker_state(self) -> str | None:
        """`closed`, `half_open` or `open`, for monitoring; None without a breaker or when unknown."""

    def start_charge(self, charge: Charge) -> ChargeState:
        """Make the rail send a code to the wallet's owner: CODE_SENT, DECLINED or UNKNOWN.

        For a known reference the rail sends no second code. Raises PayrailDisabled.
        """

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        """Take the money if the code is right: PAID, WRONG_CODE, DECLINED, EXPIRED or UNKNOWN.

        Raises PayrailDisabled, and PayrailUnavailable if the request did not reach the rail: the code is still valid.
        """

    def charge_status(self, reference: str) -> ChargeState:
        """The state of a charge, any outcome but WRONG_CODE.

        CODE_SENT is not final: a confirmation under way may still take the money. PAID, DECLINED, EXPIRED
        and REFUNDED are; only PAID may become REFUNDED.
        """

    def refund_charge(self, reference: str) -> ChargeState:
        """Give back the whole amount of a charge, once: REFUNDED or UNKNOWN.

        PAID means that this rail does not refund it. Raises PayrailDisabled.
        """

    def send_transfer(self, transfer: Transfer) -> TransferState:
        """Send the money once: ACCEPTED, PAID, FAILED or UNKNOWN; RETURNED if it has bounced already.

        For a known reference the rail sends nothing and returns the current state. Raises PayrailDisabled.
        """

    def transfer_status(self, reference: str) -> TransferState:
        """The state of a transfer, any outcome. NOT_FOUND only if the rail itself says so."""
