"""The states of a merchant and the steps between them.

(registered) ──▶ active ◀──▶ paused
                   └──▶ deleted ◀┘        deleted ──▶ active   by registering as a merchant again
"""

ACTIVE, PAUSED, DELETED = "active", "paused", "deleted"
STATUSES = (ACTIVE, PAUSED, DELETED)

STEPS: dict[str, frozenset[str]] = {
    ACTIVE: frozenset({PAUSED, DELETED}),
    PAUSED: frozenset({ACTIVE, DELETED}),
    DELETED: frozenset({ACTIVE}),
}

FLOOR_STATUSES = OPEN, BUSY, FLOOR_PAUSED, CLOSED = "open", "busy", "paused", "closed"
"""States of a stall that customers see. Every change is allowed; the stalls of a paused merchant are closed."""


def check_step(current: str, target: str) -> None:
    """Raises ValueError for a step that is not in STEPS, which is a programming error."""
    if target not in STEPS[current]:
        raise ValueError(f"{current} -> {target}")
