"""A deterministic rail that moves no money, by the rules of `mock_rules.py`. Its state is in tables, so that web, worker and
a restarted process see the same rail, or in the memory of the stand-alone server."""

import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from app.clients.payrail import mock_rules
from app.clients.payrail.interface import Charge, ChargeState, Outcome, Transfer, TransferState
from app.clients.payrail.mock_models import Tables
from app.clients.payrail.mock_rules import ChargeEntry, Pace, TransferEntry


class Book(Protocol):
    """The storage of a mock."""

    def open_charge(self, charge: Charge) -> None:
        """Store a charge, unless its reference is stored."""

    def end_charge(self, reference: str, state: str, known_after: timedelta) -> None:
        """Ends a charge that is open."""

    def refund_charge(self, reference: str) -> None:
        """Gives back a charge that is paid."""

    def charge(self, reference: str) -> ChargeEntry | None: ...

    def write_transfer(self, entry: TransferEntry) -> None:
        """Store a transfer, unless its reference is stored."""

    def transfer(self, reference: str) -> tuple[TransferEntry | None, timedelta]:
        """A transfer and its age."""


@dataclass(frozen=True)
class MockRail:
    """The mock rail."""

    pace: Pace = Pace()
    book: Book = field(default_factory=Tables)

    def check(self) -> None:
        """The mock can always be used."""

    def reachable(self) -> bool:
        return True

    def breaker_state(self) -> str | None:
        """There is none."""
        return None

    def start_charge(self, charge: Charge) -> ChargeState:
        self._delay(charge.msisdn)
        self.book.open_charge(charge)
        return self.charge_status(charge.reference)

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        known = self.book.charge(reference)
        state = mock_rules.charge_state(known, self.pace)
        if known is None:
            return state
        self._delay(known.msisdn)
        if known.state != "open" or state.outcome is Outcome.EXPIRED:
            return state
        if not mock_rules.takes(code, known.msisdn):
            return replace(state, outcome=Outcome.WRONG_CODE)
        self.book.end_charge(reference, *mock_rules.charged(known.msisdn, self.pace))
        return self.charge_status(reference)

    def charge_status(self, reference: str) -> ChargeState:
        return mock_rules.charge_state(self.book.charge(reference), self.pace)

    def refund_charge(self, reference: str) -> ChargeState:
        self.book.refund_charge(reference)
        return self.charge_status(reference)

    def send_transfer(self, transfer: Transfer) -> TransferState:
        self.book.write_transfer(mock_rules.entry_of(transfer, self.pace))
        self._delay(mock_rules.number_of(transfer.destination))
        return self.transfer_status(transfer.reference)

    def transfer_status(self, reference: str) -> TransferState:
        return mock_rules.transfer_state(*self.book.transfer(reference))

    def _delay(self, number: str) -> None:
        if mock_rules.answers_late(number):
            time.sleep(self.pace.late.total_seconds())
