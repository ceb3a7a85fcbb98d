"""The states of a shift.

    (verified) ──▶ checked_in ◀──▶ on_break
                       │              │
                       └──────┬───────┘
                              ▼
                         checked_out          by the crew, or automatically after 16 hours (`auto`)

A shift never opens again: a person who comes back starts a new one.
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
"""How old an action may be that a device sends late, after it had no network."""
CLOCK_TOLERANCE = timedelta(minutes=2)
"""How far the clock of a device may be ahead of the database's."""
