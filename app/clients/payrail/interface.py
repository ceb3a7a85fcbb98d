"""What every rail can do. A reference is ours, and the same reference is the same charge however often it is sent."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """What the rail says of a charge."""

    CODE_SENT = "code_sent"
    """It waits for the code that went to the wallet's owner."""
    PAID = "paid"
    DECLINED = "declined"
    WRONG_CODE = "wrong_code"
    UNKNOWN = "unknown"
    """No answer, or none that says it: the money may have moved. Ask `charge_status` later, never charge anew."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """Money to be taken from a wallet."""

    reference: str
    amount_minor: int
    msisdn: str
    description: str
    currency: str = "NAD"


class Rail(Protocol):
    """A payment rail. An outcome that is not known is an outcome, never an exception."""

    def check(self) -> None:
        """Whether it can be used at all, without asking it. Raises PayrailDisabled."""

    def start_charge(self, charge: Charge) -> Outcome:
        """Has the rail send a code to the wallet's owner: CODE_SENT, DECLINED or UNKNOWN.

        A reference that the rail knows sends no second code. Raises PayrailDisabled.
        """

    def confirm_charge(self, reference: str, code: str) -> Outcome:
        """Takes the money if the code is right: PAID, WRONG_CODE, DECLINED or UNKNOWN."""

    def charge_status(self, reference: str) -> Outcome:
        """How a charge stands: CODE_SENT while nothing was taken, PAID, DECLINED or UNKNOWN."""
