"""The lock of a capacity blocks only bookings that count against the same limit, and only briefly."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.events.actions import import_tickets
from tests.events.law import assert_books_agree
from tests.events.test_capacity import TYPES, create_block, import_file, request_block, sold_rows
from tests.factories.allocations import claim_slot
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, read_error

ITEM = {
    "name": "Lager",
    "sku": "BEE-1",
    "parLevel": 120,
    "minOrderQty": 24,
    "reorderLevel": 4,
    "onHand": 10,
    "reserved": 0,
    "damaged": 0,
}
LOCK_EVENT = text("SELECT id FROM event WHERE id = :id FOR NO KEY UPDATE")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def test_blocks_of_an_event_without_a_limit_do_not_block_each_other(owner: Client) -> None:
    event = create_published_event(
        owner, ticketTypes=TYPES, promoCodes=[{"code": "SPONSOR", "percentOff": 10, "maxUses": 3}]
    )
    with transaction_engine(db.engine).begin() as other:
        other.execute(LOCK_EVENT, {"id": event["id"]})
        assert request_block(owner, event, 5).status_code == 201
    assert_books_agree()


@pytest.mark.control
def test_blocks_of_an_event_with_a_capacity_wait_for_each_other(owner: Client) -> None:
    event = create_published_event(owner, ticketTypes=TYPES, capacity=100)
    with transaction_engine(db.engine).begin() as other:
        other.execute(LOCK_EVENT, {"id": event["id"]})
        assert read_error(request_block(owner, event, 5)) == (503, "BUSY")


@pytest.mark.parametrize(("capacity", "fits"), [(100, True), (20, False), (None, True)])
def test_bookings_do_not_wait_while_an_import_writes_its_tickets(
    app: Flask, owner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capacity: int | None, fits: bool
) -> None:
    event = create_published_event(owner, ticketTypes=TYPES, capacity=capacity)
    block = create_block(owner, event, 8, type_=1)
    token = block.open_link()
    statuses = _run_after_writing(monkeypatch, lambda: _book_meanwhile(app, owner, event, token))
    result = import_file(app, tmp_path, event, *sold_rows(10))
    assert statuses == [[201, 200, 201]]
    assert (result.exit_code == 0) is fits, result.output
    if not fits:
        assert "0 sold and 13 allocated leave 7 of" in result.output, "the block of the other thread counts"
    assert_books_agree()


def _run_after_writing(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> list[Any]:
    """The results of `call`, which runs in another thread after an import has written its tickets."""
    write_tickets, results = import_tickets._write_tickets, []

    def write_and_call(*arguments: Any) -> None:
        write_tickets(*arguments)
        with ThreadPoolExecutor(1) as thread:
            results.append(thread.submit(call).result())

    monkeypatch.setattr(import_tickets, "_write_tickets", write_and_call)
    return results


def _book_meanwhile(app: Flask, owner: Client, event: dict[str, Any], token: str) -> list[int]:
    """The statuses of a block of the imported type, a claim, and a new stock item of the event."""
    same_owner = Client(app.test_client(), owner.headers)
    responses = (
        request_block(same_owner, event, 5, type_=1),
        claim_slot(Client(app.test_client()), token),
        same_owner.post(f"/api/events/{event['id']}/inventory/items", ITEM),
    )
    return [response.status_code for response in responses]
