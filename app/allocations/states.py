"""States of blocks, slots, invoices and ticket packs, and the values of their other fields.

    slot   available -> invited -> claimed -> admitted
               |           |          |
               +-----------+----------+--> revoked     (ended by the organiser or the holder, or given back by the guest)
               +-----------+-------------> released    (back to the public)

          an undone scan:         claimed <- admitted

    block  open -> exhausted | released | cancelled, and open again when a place comes back to it

A slot that ended stays as history; a new slot with its own links and codes takes its place in the block.
The status of a block follows from its counters (BLOCK_STATUS in sql.py).
"""

AVAILABLE, INVITED, CLAIMED, ADMITTED = "available", "invited", "claimed", "admitted"
REVOKED, RELEASED = "revoked", "released"
ACTIVE_SLOT_STATES = (AVAILABLE, INVITED, CLAIMED, ADMITTED)
SLOT_STEPS: dict[str, frozenset[str]] = {
    AVAILABLE: frozenset({INVITED, CLAIMED, REVOKED, RELEASED}),
    INVITED: frozenset({CLAIMED, REVOKED, RELEASED}),
    CLAIMED: frozenset({ADMITTED, REVOKED}),
    ADMITTED: frozenset({CLAIMED}),
    REVOKED: frozenset(),
    RELEASED: frozenset(),
}
SLOT_STATES = tuple(SLOT_STEPS)

OPEN, EXHAUSTED, CANCELLED = "open", "exhausted", "cancelled"
BLOCK_STEPS: dict[str, frozenset[str]] = {
    OPEN: frozenset({EXHAUSTED, RELEASED, CANCELLED}),
    RELEASED: frozenset({OPEN}),
    CANCELLED: frozenset({OPEN, EXHAUSTED}),
    EXHAUSTED: frozenset({OPEN, RELEASED, CANCELLED}),
}
BLOCK_STATES = tuple(BLOCK_STEPS)

BLOCK_KINDS = ("sponsor", "artist", "press", "staff", "group")
PERSONAL_BLOCK_KINDS = ("press", "staff")
"""Their tickets are for one person, who was checked before."""
CODE, INVITE, ALLOCATOR, OPEN_LINK = "code", "invite", "allocator", "open"
PACK = "pack"
VIA_VALUES = (CODE, INVITE, ALLOCATOR, OPEN_LINK, PACK)
E_TICKET, WILL_CALL = "e_ticket", "will_call"
DELIVERIES = (E_TICKET, WILL_CALL)

ORGANISER, HOLDER, GUEST, SERVICE = "organiser", "holder", "guest", "service"
ACTORS = (ORGANISER, HOLDER, GUEST, SERVICE)

ISSUED, CREDITED = "issued", "credited"

QUEUED, RUNNING, DONE = "queued", "running", "done"
PACK_STEPS: dict[str, frozenset[str]] = {
    QUEUED: frozenset({RUNNING, DONE}),
    RUNNING: frozenset({DONE}),
    DONE: frozenset(),
}
