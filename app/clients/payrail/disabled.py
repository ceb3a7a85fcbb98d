"""No rail: every use is refused before anything is reserved."""

from app.clients.payrail.errors import PayrailDisabled
from app.clients.payrail.interface import Charge, Outcome


class DisabledRail:
    """What PAYRAIL_MODE=disabled gives."""

    def check(self) -> None:
        raise PayrailDisabled()

    def start_charge(self, charge: Charge) -> Outcome:
        raise PayrailDisabled()

    def confirm_charge(self, reference: str, code: str) -> Outcome:
        raise PayrailDisabled()

    def charge_status(self, reference: str) -> Outcome:
        """Charges of the time before stay as they are."""
        return Outcome.UNKNOWN
