"""No rail: every use is refused before anything is reserved."""

from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.interface import Charge, ChargeState, Outcome, Transfer, TransferOutcome, TransferState


class DisabledRail:
    """What PAYRAIL_MODE=disabled gives."""

    def check(self) -> None:
        raise PayrailDisabled()

    def reachable(self) -> bool:
        """There is nothing to reach."""
        return True

    def breaker_state(self) -> str | None:
        """There is none."""
        return None

    def start_charge(self, charge: Charge) -> ChargeState:
        raise PayrailDisabled()

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        raise PayrailDisabled()

    def charge_status(self, reference: str) -> ChargeState:
        """Charges of the time before stay as they are."""
        return ChargeState(outcome=Outcome.UNKNOWN)

    def refund_charge(self, reference: str) -> ChargeState:
        raise PayrailDisabled()

    def send_transfer(self, transfer: Transfer) -> TransferState:
        raise PayrailDisabled()

    def transfer_status(self, reference: str) -> TransferState:
        """Transfers of the time before stay as they are."""
        return TransferState(outcome=TransferOutcome.UNKNOWN)
