"""The capacity of an event: sold and allocated over all ticket types never exceed it, also under concurrent bookings."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.events import queries
from tests.events.law import assert_books_agree, assert_law_holds
from tests.factories.allocations import Block, create_another_block
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.http import Client, data, read_error
from tests.races import run_concurrently

TYPES = [
    {"name": "Weekend pass", "priceMinor": 85000, "quantity": 100},
    {"name": "Day ticket", "priceMinor": 45000, "quantity": 100},
]
HEADER = "reference,ticketType,name,email,price\n"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, capacity=100, ticketTypes=TYPES)


def request_block(owner: Client, event: dict[str, Any], quantity: int, *, type_: int = 0, verb: str = "") -> Any:
    """The response to a block (or with `verb` a quote) of that many places."""
    sent = {"ticketTypeId": event["ticketTypes"][type_]["id"], "quantity": quantity, "kind": "sponsor"}
    return owner.post(f"/api/events/{event['id']}/allocations{verb}", sent)


def create_block(owner: Client, event: dict[str, Any], quantity: int, *, type_: int = 0) -> Block:
    return Block(owner, event, data(request_block(owner, event, quantity, type_=type_), 201))


def available(owner: Client, event: dict[str, Any]) -> list[int]:
    """The public availability per type, which equals the organiser's."""
    shown = data(owner.get(f"/api/events/public/{event['id']}/ticket-inventory"))["ticketTypes"]
    stats = data(owner.get(f"/api/events/{event['id']}/ticket-stats"))["ticketTypes"]
    assert [item["available"] for item in shown] == [stat["available"] for stat in stats]
    return [item["available"] for item in shown]


def import_file(app: Flask, folder: Path, event: dict[str, Any], *rows: str, options: tuple[str, ...] = ()) -> Result:
    path = folder / "tickets.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", event["id"], *options])


def sold_rows(count: int, *, type_: str = "Day ticket", start: int = 1) -> list[str]:
    return [f"R{number},{type_},Zoë,zoe{number}@example.org,450.00" for number in range(start, start + count)]


def test_blocks_of_all_types_share_the_capacity(owner: Client, event: dict[str, Any]) -> None:
    create_block(owner, event, 70)
    refused = request_block(owner, event, 31, type_=1)
    assert read_error(refused) == (409, "CAPACITY_EXCEEDED")
    assert refused.get_json()["data"] == {
        "capacity": 100,
        "sold": 0,
        "allocated": 70,
        "available": 30,
        "requested": 31,
    }
    create_block(owner, event, 30, type_=1)
    assert read_error(request_block(owner, event, 1)) == (409, "CAPACITY_EXCEEDED")
    assert available(owner, event) == [0, 0]
    assert_law_holds()


def test_an_event_without_a_capacity_is_limited_by_its_types_alone(owner: Client) -> None:
    event = create_published_event(owner, ticketTypes=TYPES)
    create_block(owner, event, 100)
    create_block(owner, event, 100, type_=1)
    assert read_error(request_block(owner, event, 1)) == (409, "INSUFFICIENT_TICKETS")


def test_availability_is_the_smaller_of_both(owner: Client, event: dict[str, Any]) -> None:
    create_block(owner, event, 60)
    assert available(owner, event) == [40, 40]
    stats = data(owner.get(f"/api/events/{event['id']}/ticket-stats"))
    assert stats["totals"]["available"] == 40
    assert stats["capacity"] == 100
    quote = data(request_block(owner, event, 41, type_=1, verb="/quote"))
    assert (quote["available"], quote["fits"]) == (40, False)
    assert data(request_block(owner, event, 40, type_=1, verb="/quote"))["fits"] is True


def test_inventory_status_follows_the_capacity(owner: Client, event: dict[str, Any]) -> None:
    def status() -> list[str]:
        shown = data(owner.get(f"/api/events/public/{event['id']}/ticket-inventory"))
        return [ticket_type["status"] for ticket_type in shown["ticketTypes"]]

    small = update_event(owner, event, capacity=5)
    assert status() == ["on_sale", "on_sale"], "a small capacity is not low while all of it is free"
    create_block(owner, small, 4)
    assert status() == ["on_sale", "on_sale"]
    update_event(owner, event, capacity=40)
    assert status() == ["on_sale", "on_sale"]
    create_block(owner, event, 32)
    assert status() == ["low", "low"]
    update_event(owner, event, capacity=36)
    assert status() == ["sold_out", "sold_out"]


def test_returned_places_can_be_booked_again(owner: Client, event: dict[str, Any]) -> None:
    block = create_block(owner, event, 100)
    code, *_ = block.codes(1)
    assert available(owner, event) == [0, 0]
    preview = data(block.post("release-unused", quantity=20, dryRun=True))
    released = data(block.post("release-unused", quantity=20))
    assert preview == released or {**preview, "dryRun": None} == {**released, "dryRun": None}
    assert (released["publicAvailableBefore"], released["publicAvailableAfter"]) == (0, 20)
    slot = next(slot for slot in block.now()["slots"] if slot.get("code") == code)
    assert block.revoke(slot["id"], returnTo="public").status_code == 200
    assert available(owner, event) == [21, 21]
    create_block(owner, event, 21, type_=1)
    assert read_error(request_block(owner, event, 1, type_=1)) == (409, "CAPACITY_EXCEEDED")
    assert_law_holds()


def test_a_revoked_ticket_that_stays_in_the_block_keeps_its_place(owner: Client, event: dict[str, Any]) -> None:
    block = create_block(owner, event, 100)
    block.codes(1)
    slot = next(slot for slot in block.now()["slots"] if slot["status"] == "invited")
    assert block.revoke(slot["id"]).status_code == 200
    assert available(owner, event) == [0, 0]


@pytest.mark.parametrize("capacity", [0, 59])
def test_capacity_cannot_fall_below_what_is_committed(owner: Client, event: dict[str, Any], capacity: int) -> None:
    create_block(owner, event, 60)
    path = f"/api/events/{event['id']}"
    before = data(owner.get(path))
    refused = owner.patch(path, {"capacity": capacity, "venue": "Elsewhere"})
    assert read_error(refused) == (409, "CAPACITY_COMMITTED")
    assert refused.get_json()["data"] == {"capacity": capacity, "sold": 0, "allocated": 60, "committed": 60}
    assert data(owner.get(path)) == before, "nothing of the change was kept"
    assert update_event(owner, event, capacity=60)["capacity"] == 60
    assert update_event(owner, event, capacity=None)["capacity"] is None
    assert read_error(owner.patch(path, {"capacity": capacity})) == (409, "CAPACITY_COMMITTED")


def test_an_event_that_is_over_its_capacity_stays_usable(owner: Client, event: dict[str, Any]) -> None:
    """Events may have booked more before capacities were enforced."""
    create_block(owner, event, 60)
    with transaction() as session:
        session.execute(text("UPDATE event SET capacity = 50"))
    assert available(owner, event) == [0, 0]
    refused = request_block(owner, event, 1)
    assert read_error(refused) == (409, "CAPACITY_EXCEEDED")
    assert refused.get_json()["data"]["available"] == 0
    assert data(request_block(owner, event, 1, verb="/quote"))["available"] == 0
    assert update_event(owner, event, capacity=50, venue="The hall")["venue"] == "The hall"
    assert update_event(owner, event, capacity=55)["capacity"] == 55, "closer to the truth is allowed"
    assert read_error(owner.patch(f"/api/events/{event['id']}", {"capacity": 54})) == (409, "CAPACITY_COMMITTED")


def test_a_new_event_may_have_fewer_places_than_its_types_offer(owner: Client) -> None:
    event = create_published_event(owner, capacity=10, ticketTypes=TYPES)
    assert available(owner, event) == [10, 10]


def test_an_import_beyond_the_capacity_is_refused(
    app: Flask, owner: Client, event: dict[str, Any], tmp_path: Path
) -> None:
    create_block(owner, event, 60)
    refused = import_file(app, tmp_path, event, *sold_rows(41))
    assert refused.exit_code == 1
    assert "row 42" in refused.output.lower() or "42" in refused.output
    for figure in ("41", "100", "60"):
        assert figure in refused.output
    assert available(owner, event) == [40, 40]
    assert import_file(app, tmp_path, event, *sold_rows(40)).exit_code == 0
    assert available(owner, event) == [0, 0]
    assert_books_agree()


def test_an_import_of_two_types_counts_them_together(
    app: Flask, owner: Client, event: dict[str, Any], tmp_path: Path
) -> None:
    rows = [*sold_rows(60), *sold_rows(60, type_="Weekend pass", start=100)]
    refused = import_file(app, tmp_path, event, *rows)
    assert refused.exit_code == 1 and "capacity" in refused.output
    assert available(owner, event) == [100, 100]


def test_oversold_tickets_are_booked_with_a_warning(
    app: Flask, owner: Client, event: dict[str, Any], tmp_path: Path
) -> None:
    create_block(owner, event, 60)
    dry = import_file(app, tmp_path, event, *sold_rows(41), options=("--allow-oversell", "--dry-run"))
    result = import_file(app, tmp_path, event, *sold_rows(41), options=("--allow-oversell",))
    for import_result in (dry, result):
        assert import_result.exit_code == 0, import_result.output
        assert "Warning: 41 sold and 60 allocated are 1 more than the capacity of 100." in import_result.output
    assert available(owner, event) == [0, 0]
    assert read_error(request_block(owner, event, 1)) == (409, "CAPACITY_EXCEEDED")
    assert_books_agree(over_capacity=1)


def test_a_refund_is_booked_although_the_event_is_over_capacity(
    app: Flask, owner: Client, event: dict[str, Any], tmp_path: Path
) -> None:
    create_block(owner, event, 100)
    import_file(app, tmp_path, event, *sold_rows(2), options=("--allow-oversell",))
    path = tmp_path / "refund.csv"
    path.write_text("reference,ticketType,status\nR1,Day ticket,refunded\n")
    result = app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", event["id"]])
    assert result.exit_code == 0, result.output
    assert_books_agree(over_capacity=1)


def race(app: Flask, owner: Client, event: dict[str, Any], callers: int = 64) -> Counter[int]:
    """Counts of statuses of concurrent requests for blocks of ten places over all ticket types of an event."""
    types = len(event["ticketTypes"])

    def book_or_reduce(number: int) -> int:
        client = Client(app.test_client(), owner.headers)
        return int(request_block(client, event, 10, type_=number % types).status_code)

    return Counter(run_concurrently(callers, book_or_reduce))


def test_sixty_four_concurrent_bookings_of_different_types_stay_within_the_capacity(app: Flask, owner: Client) -> None:
    types = [{"name": f"Type {number}", "priceMinor": 100, "quantity": 1000} for number in range(8)]
    event = create_published_event(owner, capacity=95, ticketTypes=types)
    assert race(app, owner, event) == {201: 9, 409: 55}
    assert available(owner, event) == [5] * 8
    assert_law_holds()


@pytest.mark.control
def test_without_the_lock_on_the_event_the_capacity_is_exceeded(
    app: Flask, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = [{"name": f"Type {number}", "priceMinor": 100, "quantity": 1000} for number in range(8)]
    event = create_published_event(owner, capacity=15, ticketTypes=types)
    monkeypatch.setattr(queries, "lock_event", lambda statement: statement)
    race(app, owner, event, callers=16)
    committed = db.session.scalar(text("SELECT sum(sold + allocated) FROM ticket_type"))
    assert committed > 15


@pytest.mark.parametrize("round_", range(3))
def test_capacity_never_falls_below_booked_places_under_load(
    app: Flask, owner: Client, event: dict[str, Any], round_: int
) -> None:
    def book_or_reduce(number: int) -> int:
        client = Client(app.test_client(), owner.headers)
        for _ in range(5):
            if number % 4:
                response = request_block(client, event, 10, type_=number % 2)
            else:
                response = client.patch(f"/api/events/{event['id']}", {"capacity": 20 + number})
            # A request that waits too long for the event's row is 503: try again.
            if response.status_code != 503:
                break
        return int(response.status_code)

    assert set(run_concurrently(32, book_or_reduce)) <= {200, 201, 409}
    assert_law_holds()


def test_concurrent_bookings_releases_and_imports_neither_deadlock_nor_exceed(
    app: Flask, owner: Client, event: dict[str, Any], tmp_path: Path
) -> None:
    blocks = [create_block(owner, event, 20), create_block(owner, event, 20, type_=1)]

    def book_or_reduce(number: int) -> int:
        client = Client(app.test_client(), owner.headers)
        block = Block(client, event, {"id": blocks[number % 2].id, "ticketTypeId": ""})
        if number % 3 == 0:
            return int(block.post("release-unused", quantity=5).status_code)
        if number % 3 == 1:
            return int(request_block(client, event, 15, type_=number % 2).status_code)
        folder = tmp_path / str(number)
        folder.mkdir()
        with app.app_context():
            result = import_file(app, folder, event, *sold_rows(15, start=100 * number))
        return result.exit_code

    assert set(run_concurrently(24, book_or_reduce)) <= {0, 1, 200, 201, 409}
    assert_books_agree()


def test_places_move_between_blocks_of_a_full_event(owner: Client, event: dict[str, Any]) -> None:
    block = create_block(owner, event, 50)
    other = create_another_block(block, quantity=50)
    assert block.post("move", toBlockId=other.id, quantity=10).status_code == 200
    assert available(owner, event) == [0, 0]
    assert_law_holds()
