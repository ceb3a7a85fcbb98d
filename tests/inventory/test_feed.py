"""Listeners are told every change that has committed, once, whatever the order of the commits."""

from typing import Any

import psycopg
import pytest
from flask import Flask
from sqlalchemy import make_url, text

from app.core.change_positions import load_position
from app.core.transaction import transaction
from app.inventory import change_feed
from app.inventory.sql import CHANNEL
from tests.factories.inventory import Stock, build_csv
from tests.http import Client, data
from tests.races import run_concurrently


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def told(stock: Stock, position: str) -> tuple[list[tuple[str, str | None]], str]:
    found = change_feed.load_changes(stock.event["id"], position)
    assert not found.resync
    return [(change.kind, change.item_id) for change in found.changes], found.position


def test_changes_are_told_once_in_the_order_of_each_item(stock: Stock, client: Client) -> None:
    position = load_position()
    item, other = stock.item(onHand=5, reorderLevel=4), Stock(client)
    other.item()
    data(stock.adjust(item, -1))
    stock.owner.patch(f"{stock.path}/items/{item['id']}", {"name": "New"})
    found, position = told(stock, position)
    assert found == [
        ("created", item["id"]),
        ("moved", item["id"]),
        ("moved", item["id"]),
        ("low", item["id"]),
        ("changed", item["id"]),
    ]
    assert told(stock, position)[0] == []


def test_who_commits_late_is_told_late_and_not_lost(stock: Stock, app: Flask) -> None:
    early, late = stock.item(), stock.item()
    position = load_position()
    with _connection(app) as slow:
        slow.execute(
            "INSERT INTO inventory_change (event_id, kind, item_id) VALUES (%s, 'changed', %s)",
            (stock.event["id"], late["id"]),
        )
        data(stock.adjust(early, -1))
        found, position = told(stock, position)
        assert found == [("moved", early["id"])], "nobody waits for the slow one"
        slow.commit()
    found, position = told(stock, position)
    assert found == [("changed", late["id"])]
    assert told(stock, position)[0] == []


@pytest.mark.control
def test_a_feed_by_sequence_number_would_lose_it(stock: Stock, app: Flask) -> None:
    """The plain way, reading on from the greatest number seen, passes over anyone who commits late."""
    early, late = stock.item(), stock.item()
    seen = _greatest()
    with _connection(app) as slow:
        slow.execute(
            "INSERT INTO inventory_change (event_id, kind, item_id) VALUES (%s, 'changed', %s)",
            (stock.event["id"], late["id"]),
        )
        data(stock.adjust(early, -1))
        assert _greatest() > seen
        seen = _greatest()
        slow.commit()
    with transaction() as session:
        later = session.scalar(text("SELECT count(*) FROM inventory_change WHERE seq > :seen"), {"seen": seen})
    assert later == 0, "the late one is behind the reader"


def test_many_writers_and_one_reader_lose_nothing(stock: Stock, app: Flask) -> None:
    items = [stock.item(onHand=1000, reorderLevel=0) for _ in range(8)]
    position, seen = load_position(), []

    def act(turn: int) -> None:
        nonlocal position
        if turn:
            for _ in range(10):
                data(stock.adjust(items[turn - 1], -1))
            return
        with app.app_context():
            for _ in range(60):
                found, position = told(stock, position)
                seen.extend(found)

    run_concurrently(9, act)
    seen += told(stock, position)[0]
    assert sorted(seen) == sorted(("moved", item["id"]) for item in items for _ in range(10))


def test_a_large_import_is_told_as_one_thing(stock: Stock) -> None:
    position = load_position()
    data(stock.sheet(build_csv(*(f"S-{n},Item,1,1,1,1,0,0" for n in range(600)))))
    assert change_feed.load_changes(stock.event["id"], position).resync


@pytest.mark.parametrize(
    "position",
    [
        "",
        "nonsense",
        "1600000000-1:2:",
        "9999999999-1:2:",
        "1795000000-5:2:",
        "1795000000-1:9:8,3",
        f"1795000000-1:{2**63}:",
        f"1795000000-{2**32}:{2**33}:",
    ],
)
def test_a_position_that_does_not_count_means_looking_again(stock: Stock, position: str) -> None:
    found = change_feed.load_changes(stock.event["id"], position)
    assert found.resync and not change_feed.load_changes(stock.event["id"], found.position).resync


def test_a_commit_notifies(stock: Stock, app: Flask) -> None:
    with _connection(app) as listener:
        listener.autocommit = True
        listener.execute(f"LISTEN {CHANNEL}")
        data(stock.adjust(stock.item(), -1))
        heard = [notify.payload for notify in listener.notifies(timeout=2, stop_after=2)]
    assert heard == [stock.event["id"]] * 2


def _greatest() -> int:
    with transaction() as session:
        return int(session.scalar(text("SELECT max(seq) FROM inventory_change")) or 0)


def _connection(app: Flask) -> psycopg.Connection[Any]:
    url = make_url(app.extensions["settings"].DATABASE_URL).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False))
