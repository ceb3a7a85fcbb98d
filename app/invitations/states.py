"""The states of an invitation and of an invite link.

    pending ──▶ accepted      by the merchant, or automatically by the merchant's setting
       │           └──▶ withdrawn   its application ended before the fee was paid
       ├──────▶ declined      by the merchant
       ├──────▶ withdrawn     by the organiser, or because the event was cancelled or archived
       └──────▶ expired       at its end

An answer does not change. A merchant who is invited again later gets a new invitation.
"""

PENDING, ACCEPTED, DECLINED, WITHDRAWN, EXPIRED = "pending", "accepted", "declined", "withdrawn", "expired"
STATUSES = (PENDING, ACCEPTED, DECLINED, WITHDRAWN, EXPIRED)
ANSWERS = (ACCEPTED, DECLINED)

STEPS: dict[str, frozenset[str]] = {
    PENDING: frozenset({ACCEPTED, DECLINED, WITHDRAWN, EXPIRED}),
    ACCEPTED: frozenset({WITHDRAWN}),
    DECLINED: frozenset(),
    WITHDRAWN: frozenset(),
    EXPIRED: frozenset(),
}

LINK_STATES = OPEN, LINK_EXPIRED, USED_UP, REVOKED, LINK_DECLINED = (
    "open",
    "expired",
    "used_up",
    "withdrawn",
    "declined",
)
"""A link is `open` until it expires, its uses run out, its event ends, the organiser withdraws it, or the person who got
it by mail declines."""
