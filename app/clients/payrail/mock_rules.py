"""Rules of the mock rail, in this process (`mock.py`) or over HTTP (`mock_server`).

Wallets and accounts whose number ends in

    0001   decline (a charge once the code is right)
    0002   commit, then time out: the outcome is known as paid 30 seconds later
    0003   answer after 5 seconds
    0004   bounce 60 seconds after a transfer was paid
    0005   refuse every code

and all others succeed immediately. The code is 123456.
"""

from dataclasses import dataclass
from datetime import timedelta

from app.clients.payrail.interface import (
    BankAccount,
    ChargeState,
    Outcome,
    Transfer,
    TransferOutcome,
    TransferState,
    Wallet,
)

CODE = "123456"
DECLINES, TIMES_OUT, ANSWERS_LATE, BOUNCES, REFUSES_CODES = "0001", "0002", "0003", "0004", "0005"


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long the mock takes: to answer late, to know what it committed, to bounce, to let a code expire."""

    late: timedelta = timedelta(seconds=5)
    known_after: timedelta = timedelta(seconds=30)
    bounces_after: timedelta = timedelta(seconds=60)
    code_lives: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class ChargeEntry:
    """A stored charge.

    `age` counts from its start. `told` is whether its end may be known yet; until then the mock says `meanwhile`.
    """

    msisdn: str
    amount_minor: int
    currency: str = "NAD"
    state: str = "open"
    told: bool = True
    meanwhile: str = "unknown"
    age: timedelta = timedelta()


@dataclass(frozen=True, kw_only=True)
class TransferEntry:
    """A stored transfer. It never changes; its state depends on its age."""

    reference: str
    ending: str
    amount_minor: int
    currency: str
    state: str
    settled_after: timedelta = timedelta()
    known_after: timedelta = timedelta()
    returned_after: timedelta | None = None


def answers_late(number: str) -> bool:
    return number.endswith(ANSWERS_LATE)


def takes(code: str, msisdn: str) -> bool:
    """Whether this code opens this wallet."""
    return code == CODE and not msisdn.endswith(REFUSES_CODES)


def charged(msisdn: str, pace: Pace) -> tuple[str, timedelta]:
    """How a charge with the right code ends, and after what time that is known."""
    if msisdn.endswith(DECLINES):
        return "declined", timedelta()
    return "paid", pace.known_after if msisdn.endswith(TIMES_OUT) else timedelta()


def charge_state(entry: ChargeEntry | None, pace: Pace) -> ChargeState:
    """The state of a charge."""
    if entry is None:
        return ChargeState(outcome=Outcome.DECLINED)
    outcome = _charge_outcome(entry, pace)
    return ChargeState(outcome=outcome, amount_minor=entry.amount_minor, currency=entry.currency)


def _charge_outcome(entry: ChargeEntry, pace: Pace) -> Outcome:
    if entry.state == "open":
        return Outcome.EXPIRED if entry.age >= pace.code_lives else Outcome.CODE_SENT
    return Outcome(entry.state if entry.told else entry.meanwhile)


def number_of(destination: Wallet | BankAccount) -> str:
    return destination.msisdn if isinstance(destination, Wallet) else destination.account_number


def entry_of(transfer: Transfer, pace: Pace) -> TransferEntry:
    """What a transfer comes to."""
    ending = number_of(transfer.destination)[-4:]
    return TransferEntry(
        reference=transfer.reference,
        ending=ending,
        amount_minor=transfer.amount_minor,
        currency=transfer.currency,
        state="failed" if ending == DECLINES else "paid",
        known_after=pace.known_after if ending == TIMES_OUT else timedelta(),
        returned_after=pace.bounces_after if ending == BOUNCES else None,
    )


def transfer_state(entry: TransferEntry | None, age: timedelta) -> TransferState:
    """The state of a transfer of this age."""
    if entry is None:
        return TransferState(outcome=TransferOutcome.NOT_FOUND)
    outcome, reason = _transfer_outcome(entry, age)
    return TransferState(outcome=outcome, reason=reason, amount_minor=entry.amount_minor, currency=entry.currency)


def _transfer_outcome(entry: TransferEntry, age: timedelta) -> tuple[TransferOutcome, str | None]:
    if age < entry.known_after:
        return TransferOutcome.UNKNOWN, None
    if age < entry.settled_after:
        return TransferOutcome.ACCEPTED, None
    if entry.state == "failed":
        return TransferOutcome.FAILED, "declined"
    if entry.returned_after is not None and age >= entry.returned_after:
        return TransferOutcome.RETURNED, "bounced"
    return TransferOutcome.PAID, None
