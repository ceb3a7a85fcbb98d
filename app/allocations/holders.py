"""Who has claimed a place of an event, as SQL for those who write to them."""

from app.allocations.models import AT_THE_GATE

_CLAIMED = " AND ".join(f"allocation_slot.{each}" for each in AT_THE_GATE.split(" AND "))


def claimed_by(event: str) -> str:
    """SQL: `id, email, name, phone` of every claimed and admitted slot of that event."""
    return f"""SELECT allocation_slot.id, allocation_slot.email COLLATE "default" AS email, allocation_slot.name,
               allocation_slot.phone
          FROM allocation_slot WHERE allocation_slot.event_id = {event} AND {_CLAIMED}"""
