"""The capacity of an event: how many places of all its ticket types together may be sold or allocated.

There is no counter. Sold and allocated places are counted per ticket type; their sum is compared with the capacity.
Every action that takes places from the public holds the event's row first, so the capacity cannot change meanwhile. If
there is a capacity, the action locks the row (`queries.lock_for_booking`) and reads the ticket types after that, so two
bookings of different types cannot both take the last places. Returned places only lower the sum and need no lock.
"""

from dataclasses import dataclass, replace

from sqlalchemy import func, select, true
from sqlalchemy.orm import aliased

from app.core.db import db
from app.core.formatting import format_count
from app.events.errors import CapacityCommitted, CapacityExceeded
from app.events.models import Event, TicketType


@dataclass(frozen=True)
class CapacityUse:
    """The capacity of an event (None: no limit), and how many places of all its types are sold and allocated."""

    capacity: int | None
    sold: int
    allocated: int

    @property
    def committed(self) -> int:
        return self.sold + self.allocated

    def available(self, public: int) -> int:
        """How many places of a ticket type the public can get, when the type itself has `public` left."""
        places = public if self.capacity is None else min(public, self.capacity - self.committed)
        return max(0, places)

    def exceeded_by(self, count: int) -> int:
        """By how many places `count` more would exceed the capacity; 0 when they fit."""
        return 0 if self.capacity is None else max(0, self.committed + count - self.capacity)


@dataclass(frozen=True)
class TypeAvailability:
    """The availability of one ticket type to the public."""

    public: int
    oversold: int
    use: CapacityUse

    def places(self, *, more_allocated: int = 0) -> int:
        """How many places the public can get, now or with that many more (below 0: fewer) allocated."""
        use = replace(self.use, allocated=self.use.allocated + more_allocated)
        # Places that come back to an oversold type reduce the surplus first.
        return use.available(self.public - more_allocated - (self.oversold if more_allocated < 0 else 0))


def capacity_use(event: Event) -> CapacityUse:
    """The use of an event whose ticket types are loaded."""
    types: list[TicketType] = event.ticket_types
    return CapacityUse(event.capacity, sum(type_.sold for type_ in types), sum(type_.allocated for type_ in types))


def type_availability(ticket_type_id: str) -> TypeAvailability:
    """The present availability of a ticket type."""
    any_type = aliased(TicketType)
    sums = (
        select(func.sum(any_type.sold).label("sold"), func.sum(any_type.allocated).label("allocated"))
        .where(any_type.event_id == TicketType.event_id)
        .lateral()
    )
    row = db.session.execute(
        select(TicketType.public, TicketType.oversold, Event.capacity, sums.c.sold, sums.c.allocated)
        .join(Event, Event.id == TicketType.event_id)
        .join(sums, true())
        .where(TicketType.id == ticket_type_id)
    ).one()
    return TypeAvailability(row.public, row.oversold, CapacityUse(row.capacity, row.sold, row.allocated))


def check_booking(event: Event, count: int) -> None:
    """Raises CapacityExceeded when the event cannot take `count` more places. The caller has locked it."""
    use = capacity_use(event)
    if use.exceeded_by(count):
        available = max(0, (use.capacity or 0) - use.committed)
        raise CapacityExceeded(
            f"The event has {format_count(available, 'free place')} of {use.capacity}; requested: {count}.",
            capacity=use.capacity,
            sold=use.sold,
            allocated=use.allocated,
            available=available,
            requested=count,
        )


def check_change(event: Event, previous_capacity: int | None) -> None:
    """Raises CapacityCommitted when the new capacity is smaller than what is sold and allocated.

    An event that is over its capacity already may keep or raise it.
    """
    use = capacity_use(event)
    if use.exceeded_by(0) and (previous_capacity is None or (use.capacity or 0) < previous_capacity):
        raise CapacityCommitted(
            f"Sold or allocated: {format_count(use.committed, 'place')}; a capacity of {use.capacity} is too small.",
            capacity=use.capacity,
            sold=use.sold,
            allocated=use.allocated,
            committed=use.committed,
        )
