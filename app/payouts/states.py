"""What a payout can be, and every step between.

(new) ──▶ scheduled ──▶ requested ──▶ processing ──┬──▶ paid ──▶ returned     a late bounce
              │             │             │        └──▶ failed
              └──▶ cancelled ◀┘           ▼
                                     needs_review ──▶ paid | failed           after 72 hours unknown

The database holds it too: a trigger writes every step into `payout_event`, which refuses all others.
"""

from datetime import timedelta

SCHEDULED, REQUESTED, PROCESSING, PAID = "scheduled", "requested", "processing", "paid"
FAILED, RETURNED, CANCELLED, NEEDS_REVIEW = "failed", "returned", "cancelled", "needs_review"
STATES = (SCHEDULED, REQUESTED, PROCESSING, PAID, FAILED, RETURNED, CANCELLED, NEEDS_REVIEW)
CANCELLABLE = (SCHEDULED, REQUESTED)
AWAITING_OUTCOME = (PROCESSING, NEEDS_REVIEW)
"""The rail has been told, and has not said how it ended."""
OPEN_STATES = (SCHEDULED, REQUESTED, PROCESSING, NEEDS_REVIEW)
"""The amount is held."""
FINAL_STATES = (PAID, FAILED, RETURNED, CANCELLED)

BOUNCE_WINDOW = timedelta(days=14)
"""How long the rail is asked whether a payout that was paid came back."""

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
