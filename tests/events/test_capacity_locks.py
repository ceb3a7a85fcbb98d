"""Who waits for the lock that guards a capacity: only those who count against the same limit, and only briefly."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.events.actions import import_tickets
from tests.events.law import assert_books_agree
from tests.events.test_capacity import TYPES, ask, import_file, made, sold_rows
from tests.factories.allocations import claim
from tests.factories.events import organiser, published
from tests.http import Client, refusal

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
BOOKING = text("SELECT id FROM event WHERE id = :id FOR NO KEY UPDATE")


@pytest.fixture
def owner(client: Client) -> Client:
    return organiser(client)


def test_blocks_of_an_event_without_a_limit_do_not_wait_for_one_another(owner: Client) -> None:
    event = published(owner, ticketTypes=TYPES, promoCodes=[{"code": "SPONSOR", "percentOff": 10, "maxUses": 3}])
    with db.engine.begin() as other:
        other.execute(BOOKING, {"id": event["id"]})
        assert ask(owner, event, 5).status_code == 201
    assert_books_agree()


@pytest.mark.control
def test_blocks_of_an_event_with_a_capacity_wait_for_one_another(owner: Client) -> None:
    event = published(owner, ticketTypes=TYPES, capacity=100)
    with db.engine.begin() as other:
        other.execute(BOOKING, {"id": event["id"]})
        assert refusal(ask(owner, event, 5)) == (503, "BUSY")


@pytest.mark.parametrize(("capacity", "fits"), [(100, True), (20, False), (None, True)])
def test_nobody_waits_while_an_import_writes_its_tickets(
    app: Flask, owner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capacity: int | None, fits: bool
) -> None:
    event = published(owner, ticketTypes=TYPES, capacity=capacity)
    first = made(owner, event, 8, type_=1)
    token = first.open_link()
    meanwhile = _after_writing(monkeypatch, lambda: _work(app, owner, event, token))
    done = import_file(app, tmp_path, event, *sold_rows(10))
    assert meanwhile == [[201, 200, 201]]
    assert (done.exit_code == 0) is fits, done.output
    if not fits:
        assert "0 sold and 13 allocated leave 7 of" in done.output, "the block that was made meanwhile counts"
    assert_books_agree()


def _after_writing(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> list[Any]:
    """What `call` gives in another thread once an import has written its tickets, and before it goes on."""
    write, found = import_tickets._write, []

    def written(*given: Any) -> None:
        write(*given)
        with ThreadPoolExecutor(1) as thread:
            found.append(thread.submit(call).result())

    monkeypatch.setattr(import_tickets, "_write", written)
    return found


def _work(app: Flask, owner: Client, event: dict[str, Any], token: str) -> list[int]:
    """A block of the type that is being imported, a claim of one, and something else that belongs to the event."""
    other = Client(app.test_client(), owner.headers)
    answers = (
        ask(other, event, 5, type_=1),
        claim(Client(app.test_client()), token),
        other.post(f"/api/events/{event['id']}/inventory/items", ITEM),
    )
    return [response.status_code for response in answers]
