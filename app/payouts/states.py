"""States of a payout, and the steps between them.

(new) ──▶ scheduled ──▶ requested ──▶ processing ──┬──▶ paid ──▶ returned     a late bounce
              │             │             │        └──▶ failed
              └──▶ cancelled ◀┘           ▼
                                     needs_review ──▶ paid | failed           after 72 hours unknown

The database enforces it: a trigger inserts every step into `payout_event`, whose constraint refuses all others.
"""

from datetime import timedelta

SCHEDULED, REQUESTED, PROCESSING, PAID = "scheduled", "requested", "processing", "paid"
FAILED, RETURNED, CANCELLED, NEEDS_REVIEW = "failed", "returned", "cancelled", "needs_review"
STATES = (SCHEDULED, REQUESTED, PROCESSING, PAID, FAILED, RETURNED, CANCELLED, NEEDS_REVIEW)
CANCELLABLE = (SCHEDULED, REQUESTED)
AWAITING_OUTCOME = (PROCESSING, NEEDS_REVIEW)
"""Submitted to the rail; the outcome is unknown."""
OPEN_STATES = (SCHEDULED, REQUESTED, PROCESSING, NEEDS_REVIEW)
"""The amount is held."""
FINAL_STATES = (PAID, FAILED, RETURNED, CANCELLED)

BOUNCE_WINDOW = timedelta(days=14)
"""How long after the payment the rail is asked whether it came back."""

STEPS: dict[str, tuple[str, ...]] = {
    "": (SCHEDULED, REQUESTED),
    SCHEDULED: (REQUESTED, CANCELLED),
    REQUESTED: (PROCESSING, CANCELLED),
    PROCESSING: (PAID, FAILED, NEEDS_REVIEW),
    NEEDS_REVIEW: (PAID, FAILED),
    PAID: (RETURNED,),
}

MERCHANT, SERVICE, RAIL, OPERATOR = "merchant", "service", "rail", "operator"
ACTORS = (MERCHANT, SERVICE, RAIL, OPERATOR)
