"""The states of a purchase order: open until its last delivery is here, or it is cancelled."""

OPEN, RECEIVED, CANCELLED = "open", "received", "cancelled"
STEPS: dict[str, frozenset[str]] = {
    OPEN: frozenset({RECEIVED, CANCELLED}),
    RECEIVED: frozenset(),
    CANCELLED: frozenset(),
}
ORDER_STATES = tuple(STEPS)
