"""Blocks that are there already, with their slots, without the way that leads to them."""

from typing import Any

from sqlalchemy import text

from app.accounts.models import Account
from app.allocations.models import AllocationBlock, AllocationSlot
from app.core.transaction import transaction
from tests.factories.accounts import account, signed_in
from tests.factories.events import published
from tests.http import Client

WEEKEND = {"name": "Weekend pass", "priceMinor": 85000, "quantity": 9000}
HOLDER = {
    "holder_name": "Tuli Hamutenya",
    "holder_email": "tuli@bank.example",
    "holder_organisation": "Bank Windhoek",
}


def organiser_of(client: Client, **profile: Any) -> tuple[Client, Account]:
    """A new organiser, signed in."""
    who = account("organiser", **profile)
    return signed_in(client, who), who


def festival(owner: Client, **fields: Any) -> dict[str, Any]:
    """A published event with room for large blocks."""
    return published(owner, **{"name": "Windhoek Lights", "ticketTypes": [WEEKEND], **fields})


def block_of(made: dict[str, Any], quantity: int = 10, **fields: Any) -> AllocationBlock:
    """A block of an event's first ticket type, all of its places free."""
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
    """Takes free places away from a block, as a release does."""
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
    """Changes one of the free places as told, with the counters."""
    status = slot["status"]
    with transaction() as session:
        found = session.query(AllocationSlot).filter_by(block_id=block.id, status="available").first()
        assert found is not None
        for name, value in slot.items():
            setattr(found, name, value)
        session.flush()
        for table, id in (("allocation_block", block.id), ("ticket_type", block.ticket_type_id)):
            session.execute(
                text(f"UPDATE {table} SET available = available - 1, {status} = {status} + 1 WHERE id = :id"),
                {"id": id},
            )
    return found
