"""What every rail can do. A reference is ours, and the same reference is the same charge, or the same transfer,
however often it is sent."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """What the rail says of a charge."""

    CODE_SENT = "code_sent"
    """It waits for the code that went to the wallet's owner."""
    PAID = "paid"
    DECLINED = "declined"
    EXPIRED = "expired"
    """The code's life is over at the rail: nothing was taken, and no confirmation takes anything any more."""
    REFUNDED = "refunded"
    """The money was taken and given back."""
    WRONG_CODE = "wrong_code"
    UNKNOWN = "unknown"
    """No answer, or none that says it: the money may have moved. Ask `charge_status` later, never charge anew."""


class TransferOutcome(StrEnum):
    """What the rail says of a transfer."""

    ACCEPTED = "accepted"
    """The rail has it and will carry it out; it is not settled yet."""
    PAID = "paid"
    FAILED = "failed"
    """It ended and no money moved."""
    RETURNED = "returned"
    """It was paid and bounced afterwards: the money is back."""
    UNKNOWN = "unknown"
    """No answer, or none that says it: the money may have moved. Ask `transfer_status`, or send the same again."""
    NOT_FOUND = "not_found"
    """The rail surely does not know the reference, so nothing was carried out under it."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """Money to be taken from a wallet."""

    reference: str
    amount_minor: int
    msisdn: str = field(repr=False)
    description: str
    currency: str = "NAD"


@dataclass(frozen=True, kw_only=True)
class ChargeState:
    """The state of a charge, and the amount that the rail has written down for it, where it said so."""

    outcome: Outcome
    amount_minor: int | None = None
    currency: str | None = None


@dataclass(frozen=True, kw_only=True)
class Wallet:
    """A mobile wallet, by its number."""

    msisdn: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class BankAccount:
    """An account at a bank."""

    account_name: str = field(repr=False)
    account_number: str = field(repr=False)
    bank_name: str
    branch_code: str


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Money to be sent to somebody."""

    reference: str
    amount_minor: int
    currency: str = "NAD"
    destination: Wallet | BankAccount
    description: str


@dataclass(frozen=True, kw_only=True)
class TransferState:
    """How a transfer stands, and the amount that the rail has written down for it, where it said so."""

    outcome: TransferOutcome
    reason: str | None = None
    amount_minor: int | None = None
    currency: str | None = None


class Rail(Protocol):
    """A payment rail. An outcome that is not known is an outcome, never an exception."""

    def check(self) -> None:
        """Whether it can be used at all, without asking it. Raises PayrailDisabled."""

    def reachable(self) -> bool:
        """Whether it answers, found out at most a few seconds ago and in less than one."""

    def breaker_state(self) -> str | None:
        """`closed`, `half_open` or `open`, for those who watch; None where there is none or nobody knows."""

    def start_charge(self, charge: Charge) -> ChargeState:
        """Has the rail send a code to the wallet's owner: CODE_SENT, DECLINED or UNKNOWN.

        A reference that the rail knows sends no second code. Raises PayrailDisabled.
        """

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        """Takes the money if the code is right: PAID, WRONG_CODE, DECLINED, EXPIRED or UNKNOWN.

        Raises PayrailDisabled, and PayrailUnavailable when the rail surely was not asked: the code still counts.
        """

    def charge_status(self, reference: str) -> ChargeState:
        """The state of a charge, any outcome but WRONG_CODE.

        CODE_SENT is not final: a confirmation that is on its way may still take the money. PAID, DECLINED, EXPIRED
        and REFUNDED are; only PAID may become REFUNDED.
        """

    def refund_charge(self, reference: str) -> ChargeState:
        """Gives back all that was taken under the reference, once: REFUNDED, or UNKNOWN.

        PAID means that this rail does not give it back. Raises PayrailDisabled.
        """

    def send_transfer(self, transfer: Transfer) -> TransferState:
        """Sends the money once: ACCEPTED, PAID, FAILED or UNKNOWN; RETURNED when it has bounced already.

        A reference that the rail knows sends nothing more and is told as it stands. Raises PayrailDisabled.
        """

    def transfer_status(self, reference: str) -> TransferState:
        """How a transfer stands, any outcome. NOT_FOUND is said only when the rail itself says so."""
