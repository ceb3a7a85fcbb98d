"""Blocks with slots, inserted directly into the database."""

from typing import Any

from sqlalchemy import text

from app.accounts.models import Account
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_published_event
from tests.http import Client

WEEKEND = {"name": "Weekend pass", "priceMinor": 85000, "quantity": 9000}
HOLDER = {
    "holder_name": "Tuli Hamutenya",
    "holder_email": "tuli@bank.example",
    "holder_organisation": "Bank Windhoek",
}


def organiser_of(client: Client, **profile: Any) -> tuple[Client, Account]:
    """Return a new organiser, signed in."""
    organiser = create_account("organiser", **profile)
    return create_signed_in_client(client, organiser), organiser


def festival(owner: Client, **fields: Any) -> dict[str, Any]:
    """Return a published event with enough tickets for large blocks."""
    return create_published_event(owner, **{"name": "Windhoek Lights", "ticketTypes": [WEEKEND], **fields})


def block_of(made: dict[str, Any], quantity: int = 10, **fields: Any) -> AllocationBlock:
    """Return a block of an event's first ticket type with only free slots."""
    kind = made["ticketTypes"][0]["id"]
    given = {"kind": "sponsor", "name": "Main sponsor", "unit_price_minor": 85000, **HOLDER, **fields}
    with transaction() as session:
        block = AllocationBlock(
            event_id=made["id"], ticket_type_id=kind, quantity=quantity, available=quantity, **given
        )
        session.add(block)
        session.flush()
        session.add_all(
            AllocationSlot(block_id=block.id, event_id=made["id"], ticket_type_id=kind) for _ in range(quantity)
        )
        session.execute(
            text("UPDATE ticket_type SET available = available + :n WHERE id = :id"), {"n": quantity, "id": kind}
        )
    return block


def shrink(block: AllocationBlock, by: int) -> None:
    """Release free slots of a block."""
    given = {"id": block.id, "by": by, "kind": block.ticket_type_id}
    with transaction() as session:
        for statement in (
            "UPDATE allocation_slot SET status = 'released', ended_at = now() WHERE id IN"
            " (SELECT id FROM allocation_slot WHERE block_id = :id AND status = 'available' LIMIT :by)",
            "UPDATE allocation_block SET available = available - :by, released = released + :by WHERE id = :id",
            "UPDATE ticket_type SET available = available - :by WHERE id = :kind",
        ):
            session.execute(text(statement), given)


def give(block: AllocationBlock, **slot: Any) -> AllocationSlot:
    """Update one of the free slots and the counters."""
    status = slot["status"]
    with transaction() as session:
        free_slot = session.query(AllocationSlot).filter_by(block_id=block.id, status="available").first()
        assert free_slot is not None
        for name, value in slot.items():
            setattr(free_slot, name, value)
        session.flush()
        for table, id in (("allocation_block", block.id), ("ticket_type", block.ticket_type_id)):
            session.execute(
                text(f"UPDATE {table} SET available = available - 1, {status} = {status} + 1 WHERE id = :id"),
                {"id": id},
            )
    return free_slot
