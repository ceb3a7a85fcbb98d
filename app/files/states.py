"""The states of a file, and how long it is kept."""

from datetime import timedelta

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
STEPS: dict[str, frozenset[str]] = {
    QUEUED: frozenset({RUNNING, FAILED}),
    RUNNING: frozenset({DONE, FAILED}),
    DONE: frozenset(),
    FAILED: frozenset(),
}
OPEN_STATES = tuple(state for state, next_states in STEPS.items() if next_states)
RETENTION = timedelta(days=7)
"""How long a file waits, from the end of its work."""
