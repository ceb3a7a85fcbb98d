"""The states of an application, and every way from one to another.

    submitted ──▶ declined
        │
        ▼                        ┌──────────────────────────┐
    approved ──▶ awaiting_documents ──▶ awaiting_payment ──▶ ready ──▶ activated
        │                                    ▲               ▲
        └────────────────────────────────────┴───────────────┘

    whatever is not at its end ──▶ withdrawn (by the applicant) or expired (the event is over)

`approved` is passed through within one transaction: what rests is the first thing that is outstanding.
"""

from app.core.errors import Conflict

SUBMITTED, APPROVED, DECLINED = "submitted", "approved", "declined"
AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY, ACTIVATED = "awaiting_documents", "awaiting_payment", "ready", "activated"
WITHDRAWN, EXPIRED = "withdrawn", "expired"

MOVES: dict[str, frozenset[str]] = {
    SUBMITTED: frozenset({APPROVED, DECLINED, WITHDRAWN, EXPIRED}),
    APPROVED: frozenset({AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY}),
    AWAITING_DOCUMENTS: frozenset({AWAITING_PAYMENT, READY, WITHDRAWN, EXPIRED}),
    AWAITING_PAYMENT: frozenset({READY, WITHDRAWN, EXPIRED}),
    READY: frozenset({ACTIVATED, WITHDRAWN, EXPIRED}),
    DECLINED: frozenset(),
    ACTIVATED: frozenset(),
    WITHDRAWN: frozenset(),
    EXPIRED: frozenset(),
}
PAYMENT_STEPS: dict[str, frozenset[str]] = {
    "starting": frozenset({"otp_required", "declined", "expired", "processing", "paid"}),
    "otp_required": frozenset({"processing", "paid", "declined", "expired"}),
    "processing": frozenset({"otp_required", "paid", "declined", "expired"}),
    "paid": frozenset(),
    "declined": frozenset({"processing", "paid"}),
    "expired": frozenset({"processing", "paid"}),
}
"""Of a payment. A capture counts whenever the rail tells of it, also when nobody waits for it any more; with another
amount than ours it is `processing` until a person has looked."""
PURPOSES = ("documents", "payment", "activation")
RISKS = ("low", "medium", "high")
STATES = tuple(MOVES)
OPEN = tuple(state for state, ways in MOVES.items() if EXPIRED in ways)
ACCEPTED = (AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY)
DECISIONS = {APPROVED: (APPROVED, *ACCEPTED, ACTIVATED), DECLINED: (DECLINED,)}


class MoveNotAllowed(Conflict):
    number, code = 40945, "APPLICATION_STATE"
    message = "The application is in a state that does not allow this; read it again."


def checked(now: str, wanted: str) -> str:
    """The state wanted, if a way leads there. Raises MoveNotAllowed."""
    if wanted not in MOVES[now]:
        raise MoveNotAllowed(status=now)
    return wanted


def outstanding(*, documents: bool, payment: bool) -> str:
    """Where an approved application rests while these are due."""
    if documents:
        return AWAITING_DOCUMENTS
    return AWAITING_PAYMENT if payment else READY
