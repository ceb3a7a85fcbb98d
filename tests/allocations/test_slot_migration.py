"""What the migration of slots changes in existing rows."""

from importlib.util import module_from_spec, spec_from_file_location

from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.allocations import create_block
from tests.house.sources import ROOT
from tests.http import Client, data, read_error


def statement() -> str:
    spec = spec_from_file_location("migration", ROOT / "migrations" / "versions" / "0015_allocation_slots.py")
    assert spec is not None and spec.loader is not None
    migration = module_from_spec(spec)
    spec.loader.exec_module(migration)
    return str(migration.RENAMED)


def test_migration_takes_renamed_slots_out_of_their_party(client: Client) -> None:
    made = create_block(client)
    path = f"/api/allocations/allocator/{made.allocator()}"
    party = {"name": "Frieda", "email": "frieda@example.com", "quantity": 3, "delivery": "will_call"}
    first, second, third = (slot["slotId"] for slot in data(client.post(path, party))["slots"])
    with transaction() as session:
        session.execute(text("UPDATE allocation_slot SET generation = 2, name = 'Maria' WHERE id = :id"), {"id": first})
        session.execute(text(statement()))
    assert data(made.admit(first, count=1))["slotIds"] == [first]
    assert data(made.admit(second, count=2))["slotIds"] == [second, third]
    assert read_error(made.admit(third, count=1)) == (409, "ALREADY_ADMITTED")
