"""The capacity of an event: how many places of all its ticket types together may be sold or allocated.

There is no counter. Sold and allocated places are already counted per ticket type; their sum is compared with the
capacity. Every action that takes places from the public holds the event's row first, so that nobody gives it a
capacity meanwhile. Where there is one, it locks the row (`queries.lock_for_booking`, `queries.locked`) and reads the
ticket types after that, so two bookings of different types cannot both take the last places. Places that come back
only lower the sum and need no lock.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import text

from app.core.db import db
from app.events.errors import CapacityCommitted, CapacityExceeded
from app.events.models import Event, TicketType

PUBLIC = text("""
    SELECT t.public, t.oversold, e.capacity, b.sold, b.allocated
      FROM ticket_type t JOIN event e ON e.id = t.event_id
      CROSS JOIN LATERAL (SELECT sum(o.sold) AS sold, sum(o.allocated) AS allocated
                            FROM ticket_type o WHERE o.event_id = t.event_id) b
     WHERE t.id = :id
""")


@dataclass(frozen=True)
class CapacityUse:
    """The capacity of an event (None: no limit), and how many places are sold and allocated over all types."""

    capacity: int | None
    sold: int
    allocated: int

    @property
    def committed(self) -> int:
        return self.sold + self.allocated

    def available(self, public: int) -> int:
        """What the public can get of a ticket type that has `public` places left: the smaller of both."""
        left = public if self.capacity is None else min(public, self.capacity - self.committed)
        return max(0, left)

    def exceeded_by(self, count: int) -> int:
        """By how many places `count` more would exceed the capacity; 0 when they fit."""
        return 0 if self.capacity is None else max(0, self.committed + count - self.capacity)


def capacity_use(event: Event) -> CapacityUse:
    """The use of an event whose ticket types are loaded."""
    types: Iterable[TicketType] = event.ticket_types
    return CapacityUse(event.capacity, sum(type_.sold for type_ in types), sum(type_.allocated for type_ in types))


@dataclass(frozen=True)
class TypeAvailability:
    """What the public can get of one ticket type."""

    public: int
    oversold: int
    use: CapacityUse

    def places(self, *, more_allocated: int = 0) -> int:
        """How many there are, now or with so many more (below 0: fewer) places allocated."""
        use = replace(self.use, allocated=self.use.allocated + more_allocated)
        # Places that come back to an oversold type reduce the surplus first.
        return use.available(self.public - more_allocated - (self.oversold if more_allocated < 0 else 0))


def type_availability(ticket_type_id: str) -> TypeAvailability:
    """The availability of a ticket type as it stands."""
    row = db.session.execute(PUBLIC, {"id": ticket_type_id}).one()
    return TypeAvailability(row.public, row.oversold, CapacityUse(row.capacity, row.sold, row.allocated))


def check_booking(event: Event, count: int) -> None:
    """Raises CapacityExceeded when the event cannot take `count` more places. The caller has locked it."""
    use = capacity_use(event)
    if use.exceeded_by(count):
        left = max(0, (use.capacity or 0) - use.committed)
        raise CapacityExceeded(
            f"{left} of {use.capacity} places of the event are free, {count} were asked for.",
            capacity=use.capacity,
            sold=use.sold,
            allocated=use.allocated,
            available=left,
            requested=count,
        )


def check_change(event: Event, before: int | None) -> None:
    """Raises CapacityCommitted when the new capacity is too small for what is sold and allocated.

    An event that is over its capacity already may keep or raise it.
    """
    use = capacity_use(event)
    if use.exceeded_by(0) and (before is None or (use.capacity or 0) < before):
        raise CapacityCommitted(
            f"{use.committed} places are sold or allocated; a capacity of {use.capacity} is too small.",
            capacity=use.capacity,
            sold=use.sold,
            allocated=use.allocated,
            committed=use.committed,
        )
