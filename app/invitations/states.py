"""What an invitation can be, and every step between.

    pending ──▶ accepted      by the merchant, or by itself where they set that
       ├──────▶ declined      by the merchant
       ├──────▶ withdrawn     by the organiser, or by the event's end: cancelled or archived
       └──────▶ expired       by the clock

Only `pending` leads anywhere. Anyone who is invited again after the end gets a new invitation.
"""

PENDING, ACCEPTED, DECLINED, WITHDRAWN, EXPIRED = "pending", "accepted", "declined", "withdrawn", "expired"
STATUSES = (PENDING, ACCEPTED, DECLINED, WITHDRAWN, EXPIRED)
ANSWERS = (ACCEPTED, DECLINED)

STEPS: dict[str, frozenset[str]] = {
    PENDING: frozenset({ACCEPTED, DECLINED, WITHDRAWN, EXPIRED}),
    ACCEPTED: frozenset(),
    DECLINED: frozenset(),
    WITHDRAWN: frozenset(),
    EXPIRED: frozenset(),
}

LINK_STATES = OPEN, LINK_EXPIRED, USED_UP, REVOKED = "open", "expired", "used_up", "withdrawn"
"""A link is `open` until its time, its uses or its event end, or until the organiser withdraws it."""
