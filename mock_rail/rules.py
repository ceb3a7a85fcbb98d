"""What the last digits of a wallet or account decide, and the outcome of a charge or transfer at a time.

    0001   decline (a charge once the code is right)
    0002   commit, then time out: the outcome is known as paid 30 seconds later
    0003   answer after 5 seconds
    0004   bounce 60 seconds after a transfer was paid
    0005   refuse every code

All others succeed immediately. The code is 123456.
"""

from dataclasses import dataclass

from app.clients.payrail.message_parsing import MOCK_CODE

CODE = MOCK_CODE
DECLINED, TIMED_OUT, SLOW, BOUNCING, REFUSING_CODES = "0001", "0002", "0003", "0004", "0005"


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Times in seconds: of a slow answer, until a timed-out outcome is known, until a bounce, of a code's life."""

    slow_answer: float = 5.0
    known_after: float = 30.0
    bounces_after: float = 60.0
    code_life: float = 300.0


@dataclass(frozen=True, kw_only=True)
class StoredCharge:
    """A charge of a wallet, of which only the last digits are stored. Times are seconds since 1970.

    `state` is `open`, `paid`, `declined` or `refunded`. Before `known_at` the outcome is `outcome_until_known`.
    """

    reference: str
    ending: str
    amount_minor: int
    currency: str
    started_at: float
    state: str = "open"
    known_at: float = 0.0
    outcome_until_known: str = "unknown"


@dataclass(frozen=True, kw_only=True)
class StoredTransfer:
    """A transfer, which never changes: its outcome depends on the seconds since it was sent.

    `state` is `paid` or `failed`.
    """

    reference: str
    ending: str
    amount_minor: int
    currency: str
    sent_at: float
    state: str
    known_after: float = 0.0
    settled_after: float = 0.0
    returned_after: float | None = None


def is_slow(ending: str) -> bool:
    """Whether starts, confirmations and transfers of this wallet or account are answered late."""
    return ending == SLOW


def is_code_right(code: str, ending: str) -> bool:
    """Whether the wallet accepts the code."""
    return code == CODE and ending != REFUSING_CODES


def decide_charge(ending: str, pace: Pace) -> tuple[str, float]:
    """The state of a charge after the right code, and the seconds until it is known."""
    if ending == DECLINED:
        return "declined", 0.0
    return "paid", pace.known_after if ending == TIMED_OUT else 0.0


def decide_transfer(
    reference: str, ending: str, amount_minor: int, currency: str, now: float, pace: Pace
) -> StoredTransfer:
    """The transfer that is stored for a request."""
    return StoredTransfer(
        reference=reference,
        ending=ending,
        amount_minor=amount_minor,
        currency=currency,
        sent_at=now,
        state="failed" if ending == DECLINED else "paid",
        known_after=pace.known_after if ending == TIMED_OUT else 0.0,
        returned_after=pace.bounces_after if ending == BOUNCING else None,
    )


def find_charge_outcome(charge: StoredCharge, now: float, pace: Pace) -> str:
    """The outcome of a charge, as docs/payrail.md names it."""
    if charge.state == "open":
        return "expired" if now - charge.started_at >= pace.code_life else "code_sent"
    return charge.state if now >= charge.known_at else charge.outcome_until_known


def find_transfer_outcome(transfer: StoredTransfer, now: float) -> tuple[str, str | None]:
    """The outcome of a transfer, and the reason if it failed or came back."""
    age = now - transfer.sent_at
    if age < transfer.known_after:
        return "unknown", None
    if age < transfer.settled_after:
        return "accepted", None
    if transfer.state == "failed":
        return "failed", "declined"
    if transfer.returned_after is not None and age >= transfer.returned_after:
        return "returned", "bounced"
    return "paid", None
