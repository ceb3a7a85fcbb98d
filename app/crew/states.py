"""What a shift can be, and every step between.

    (verified) ──▶ checked_in ◀──▶ on_break
                       │              │
                       └──────┬───────┘
                              ▼
                         checked_out          by the crew, or by itself after 16 hours (`auto`)

A shift never opens again: a person who comes back verifies again.
"""

from datetime import timedelta

CHECKED_IN, ON_BREAK, CHECKED_OUT = "checked_in", "on_break", "checked_out"
STATUSES = (CHECKED_IN, ON_BREAK, CHECKED_OUT)

STEPS: dict[str, frozenset[str]] = {
    CHECKED_IN: frozenset({ON_BREAK, CHECKED_OUT}),
    ON_BREAK: frozenset({CHECKED_IN, CHECKED_OUT}),
    CHECKED_OUT: frozenset(),
}

MAX_SHIFT_DURATION = timedelta(hours=16)
"""A shift that is open for longer was forgotten: it counts as ended then."""
MAX_AGE = timedelta(hours=12)
"""How long ago something may have happened that a device without a network tells us now."""
CLOCK_TOLERANCE = timedelta(minutes=2)
"""How far the clock of a device may be ahead of ours."""
