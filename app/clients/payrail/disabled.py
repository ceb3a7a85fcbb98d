"""The rail without an address: orders raise PayrailDisabled, and earlier payments have an unknown outcome."""

from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.interface import Charge, ChargeState, Outcome, Transfer, TransferOutcome, TransferState


class DisabledRail:
    """A rail that takes no orders."""

    def check(self) -> None:
        raise PayrailDisabled()

    def reachable(self) -> bool:
        """Always true, so that health checks pass."""
        return True

    def breaker_state(self) -> str | None:
        """It has no breaker."""
        return None

    def start_charge(self, charge: Charge) -> ChargeState:
        raise PayrailDisabled()

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        raise PayrailDisabled()

    def charge_status(self, reference: str) -> ChargeState:
        """Charges from before it was disabled keep their state."""
        return ChargeState(outcome=Outcome.UNKNOWN)

    def refund_charge(self, reference: str) -> ChargeState:
        raise PayrailDisabled()

    def send_transfer(self, transfer: Transfer) -> TransferState:
        raise PayrailDisabled()

    def transfer_status(self, reference: str) -> TransferState:
        """Transfers from before it was disabled keep their state."""
        return TransferState(outcome=TransferOutcome.UNKNOWN)
