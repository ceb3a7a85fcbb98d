"""States of blocks and slots, and the words that go with them.

    slot   available -> invited -> claimed -> admitted
               |           |          |
               +-----------+----------+--> revoked     (ended by the organiser or the holder of the allocator link)
               +-----------+-------------> released    (back to the public)

    block  open -> exhausted | released | cancelled, and open again when a place comes back to it

A slot that ends stays as history; the place that comes back to the block is a new slot with secrets of its own.
"""

AVAILABLE, INVITED, CLAIMED, ADMITTED = "available", "invited", "claimed", "admitted"
REVOKED, RELEASED = "revoked", "released"
LIVING = (AVAILABLE, INVITED, CLAIMED, ADMITTED)
SLOT_STATES = (*LIVING, REVOKED, RELEASED)

OPEN, EXHAUSTED, CANCELLED = "open", "exhausted", "cancelled"
BLOCK_STATES = (OPEN, RELEASED, CANCELLED, EXHAUSTED)

KINDS = ("sponsor", "artist", "press", "staff", "group")
CODE, INVITE, ALLOCATOR, OPEN_LINK = "code", "invite", "allocator", "open"
PACK = "pack"
WAYS = (CODE, INVITE, ALLOCATOR, OPEN_LINK, PACK)
E_TICKET, WILL_CALL = "e_ticket", "will_call"
DELIVERIES = (E_TICKET, WILL_CALL)

ORGANISER, HOLDER, GUEST, SERVICE = "organiser", "holder", "guest", "service"
ACTORS = (ORGANISER, HOLDER, GUEST, SERVICE)
