"""What a merchant can be, and every step between.

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
"""What customers are told of a stall. Any may follow any; a paused merchant's stalls are closed."""


def check_step(current: str, target: str) -> None:
    """Raises ValueError for a step that the table does not have: a slip of this program, never of a client."""
    if target not in STEPS[current]:
        raise ValueError(f"{current} -> {target}")
