"""A rail for the model of a stall payment: it knows the truth about every charge, and answers as it is told to."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from app.clients.payrail import Charge, ChargeState, Outcome
from app.clients.payrail.errors import PayrailUnavailable
from mock_rail import CODE

UNKNOWN = ChargeState(outcome=Outcome.UNKNOWN)
TAKEN = (Outcome.PAID, Outcome.REFUNDED)
ANSWERS = (
    "at_once",
    "unanswered",
    "late",
    "lost",
    "declined",
    "other_amount",
    "not_asked",
    "dies_before",
    "dies_after",
)
"""What the rail does with the next right code: takes the money and says so; takes it and says nothing; takes it later
and says nothing; never sees it; declines; takes another amount; is not reached. Or our process dies before or after."""


START_ANSWERS = ("at_once", "at_once", "unanswered", "lost", "declined")
"""What it does with a start: makes the charge and says so; makes it and says nothing; never sees it; declines."""


class Died(BaseException):
    """The process died while it called the rail."""


@dataclass(frozen=True)
class Truth:
    """A charge at the rail.

    `pending` is a confirmation that the rail has begun and not ended. `against` is a capture after the rail had said
    that there would be none: a fault of the rail, which it must not take a second one of ours to find.
    """

    charge: Charge
    outcome: Outcome = Outcome.CODE_SENT
    taken_minor: int = 0
    pending: bool = False
    against: bool = False


@dataclass
class ModelRail:
    """Charges by reference, and the callbacks that the rail will send."""

    charges: dict[str, Truth] = field(default_factory=dict)
    callbacks: list[tuple[str, str, int]] = field(default_factory=list)
    asked_back: set[str] = field(default_factory=set)
    answer: str = "at_once"
    start_answer: str = "at_once"
    silent: bool = False
    refunds: bool = True

    def check(self) -> None:
        """It always can."""

    def start_charge(self, charge: Charge) -> ChargeState:
        answer, self.start_answer = self.start_answer, "at_once"
        if answer == "lost":
            return UNKNOWN
        outcome = Outcome.DECLINED if answer == "declined" else Outcome.CODE_SENT
        self.charges.setdefault(charge.reference, Truth(charge, outcome))
        return UNKNOWN if answer == "unanswered" else self._tell(charge.reference)

    def confirm_charge(self, reference: str, code: str) -> ChargeState:
        truth, answer = self.charges[reference], self.answer
        self.answer = "at_once"
        if answer == "not_asked":
            raise PayrailUnavailable(retry_after=5)
        if answer == "dies_before":
            raise Died()
        if answer == "lost":
            return UNKNOWN
        if truth.outcome is not Outcome.CODE_SENT:
            return self._tell(reference)
        if code != CODE:
            return replace(self._tell(reference), outcome=Outcome.WRONG_CODE)
        return self._confirmed(reference, answer)

    def charge_status(self, reference: str) -> ChargeState:
        return UNKNOWN if self.silent else self._tell(reference)

    def refund_charge(self, reference: str) -> ChargeState:
        if self.silent:
            return UNKNOWN
        self.asked_back.add(reference)
        if self.refunds and self.charges[reference].outcome is Outcome.PAID:
            self._end(reference, Outcome.REFUNDED)
        return self._tell(reference)

    def capture(self, reference: str, *, against: bool = False) -> None:
        """Takes the money now."""
        truth = self.charges[reference]
        taken = truth.taken_minor or truth.charge.amount_minor
        self.charges[reference] = replace(truth, pending=False, against=against, taken_minor=taken)
        self._end(reference, Outcome.PAID)

    def decline(self, reference: str) -> None:
        """Ends a charge without money."""
        self.charges[reference] = replace(self.charges[reference], pending=False)
        self._end(reference, Outcome.DECLINED)

    def expire_codes(self) -> None:
        """Ends every charge that waits for its code; not one whose confirmation has begun."""
        for reference in self.list(lambda truth: truth.outcome is Outcome.CODE_SENT and not truth.pending):
            self.charges[reference] = replace(self.charges[reference], outcome=Outcome.EXPIRED)

    def list(self, wanted: Callable[[Truth], bool]) -> list[str]:
        """The references of charges that are so, in the order in which they were started."""
        return [reference for reference, truth in self.charges.items() if wanted(truth)]

    def _confirmed(self, reference: str, answer: str) -> ChargeState:
        if answer == "declined":
            self.decline(reference)
        elif answer == "late":
            self.charges[reference] = replace(self.charges[reference], pending=True)
        else:
            if answer == "other_amount":
                self.charges[reference] = replace(self.charges[reference], taken_minor=999_999)
            self.capture(reference)
        if answer == "dies_after":
            raise Died()
        return UNKNOWN if answer in ("late", "unanswered") else self._tell(reference)

    def _end(self, reference: str, outcome: Outcome) -> None:
        self.charges[reference] = replace(self.charges[reference], outcome=outcome)
        self.callbacks.append((reference, outcome.value, self._amount(reference)))

    def _tell(self, reference: str) -> ChargeState:
        truth = self.charges.get(reference)
        if truth is None:
            return ChargeState(outcome=Outcome.DECLINED)
        return ChargeState(outcome=truth.outcome, amount_minor=self._amount(reference), currency="NAD")

    def _amount(self, reference: str) -> int:
        truth = self.charges[reference]
        return truth.taken_minor or truth.charge.amount_minor
