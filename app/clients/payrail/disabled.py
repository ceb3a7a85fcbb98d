"""No rail: every use is refused before anything is reserved."""

from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.interface import Charge, Outcome, Transfer, TransferOutcome, TransferState


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

    def start_charge(self, charge: Charge) -> Outcome:
        raise PayrailDisabled()

    def confirm_charge(self, reference: str, code: str) -> Outcome:
        raise PayrailDisabled()

    def charge_status(self, reference: str) -> Outcome:
        """Charges of the time before stay as they are."""
        return Outcome.UNKNOWN

    def send_transfer(self, transfer: Transfer) -> TransferState:
        raise PayrailDisabled()

    def transfer_status(self, reference: str) -> TransferState:
        """Transfers of the time before stay as they are."""
        return TransferState(outcome=TransferOutcome.UNKNOWN)
