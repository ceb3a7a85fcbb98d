"""The states of an application and of a stall payment.

    submitted ◀──▶ declined ◀── an approved or activated one without money (a decision can be revised with a reason)
        │   │
        │   └──▶ waitlisted ──▶ approved (by the organiser, or by an accepted offer), declined (also by the applicant)
        ▼                        ┌──────────────────────────┐
    approved ──▶ awaiting_documents ──▶ awaiting_payment ──▶ ready ──▶ activated
        │                                    ▲               ▲
        └────────────────────────────────────┴───────────────┘

    awaiting_payment, ready ──▶ awaiting_documents (a decider asks for a document again, or the event has moved, and a
    document is not valid any more at its end)

    every state but the last ones ──▶ withdrawn (by the applicant) or expired (the event is over, or an offer lapsed)

`approved` is never stored: the same transaction sets the state of the first outstanding step.
"""

from app.core.errors import Conflict

SUBMITTED, WAITLISTED, APPROVED, DECLINED = "submitted", "waitlisted", "approved", "declined"
AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY, ACTIVATED = "awaiting_documents", "awaiting_payment", "ready", "activated"
WITHDRAWN, EXPIRED = "withdrawn", "expired"

STEPS: dict[str, frozenset[str]] = {
    SUBMITTED: frozenset({WAITLISTED, APPROVED, DECLINED, WITHDRAWN, EXPIRED}),
    WAITLISTED: frozenset({APPROVED, DECLINED, WITHDRAWN, EXPIRED}),
    APPROVED: frozenset({AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY}),
    AWAITING_DOCUMENTS: frozenset({AWAITING_PAYMENT, READY, DECLINED, WITHDRAWN, EXPIRED}),
    AWAITING_PAYMENT: frozenset({READY, AWAITING_DOCUMENTS, DECLINED, WITHDRAWN, EXPIRED}),
    READY: frozenset({ACTIVATED, AWAITING_DOCUMENTS, DECLINED, WITHDRAWN, EXPIRED}),
    DECLINED: frozenset({SUBMITTED}),
    ACTIVATED: frozenset({DECLINED}),
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
"""Steps of a payment. A capture counts whenever the rail reports it, also after the payment ended. With a different
amount the payment is `processing` until an operator resolves it."""
REFUND_METHODS = BY_RAIL, BY_TRANSFER = "rail", "transfer"
REFUND_REQUESTED, REFUNDED, REFUND_REFUSED = "requested", "refunded", "refused"
REFUND_STEPS: dict[str, frozenset[str]] = {
    REFUND_REQUESTED: frozenset({REFUNDED, REFUND_REFUSED}),
    REFUND_REFUSED: frozenset({REFUND_REQUESTED, REFUNDED}),
    REFUNDED: frozenset(),
}
REFUND_STATES = tuple(REFUND_STEPS)
DOCUMENTS, PAYMENT, ACTIVATION = PURPOSES = ("documents", "payment", "activation")
OFFER = "offer"
LINK_PURPOSES = (*PURPOSES, OFFER)
ACCEPTED = "accepted"
ANSWERS = (ACCEPTED, DECLINED)
"""What an applicant may say to an offer of a place."""
RISK_LEVELS = ("low", "medium", "high")
STATES = tuple(STEPS)
OPEN_STATES = tuple(state for state, targets in STEPS.items() if EXPIRED in targets)
ACCEPTED_STATES = (AWAITING_DOCUMENTS, AWAITING_PAYMENT, READY)
ENDED_STATES = (DECLINED, WITHDRAWN, EXPIRED)
STATES_BY_DECISION = {APPROVED: (APPROVED, *ACCEPTED_STATES, ACTIVATED), DECLINED: (DECLINED,)}


class StepNotAllowed(Conflict):
    number, code = 40945, "APPLICATION_STATE"
    message = "The application is in a state that does not allow this; read it again."


def check_step(current_state: str, target_state: str) -> str:
    """The target state, if it can follow the current one. Raises StepNotAllowed."""
    if target_state not in STEPS[current_state]:
        raise StepNotAllowed(status=current_state)
    return target_state


def get_outstanding_state(*, documents: bool, payment: bool) -> str:
    """The state of an approved application while these are due."""
    if documents:
        return AWAITING_DOCUMENTS
    return AWAITING_PAYMENT if payment else READY
