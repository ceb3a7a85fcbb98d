"""Anyone who comes again with the id of what was read last has lost nothing, whenever the connection broke."""

import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.inventory import Stock
from tests.faults.service import kept_open
from tests.http import Client, data
from tests.races import run_concurrently
from tests.streams import ReconnectingClient, Web, run_web
from tests.waiting import wait_until

SEEDS = int(os.environ.get("STREAM_SEEDS") or 20)
ITEMS, WRITERS, TURNS = 4, 3, 10


@pytest.fixture(scope="module")
def service(application: Flask) -> Iterator[Web]:
    with kept_open() as folder, run_web(application, folder) as found:
        yield found


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_is_lost_and_nothing_told_twice(service: Web, stock: Stock, seed: int) -> None:
    followed = _followed(ReconnectingClient(service, f"{stock.path}/stream", stock.owner.headers), stock, seed)
    assert [item["seq"] for item in _by_seq(followed)] == _all_changes()
    assert followed.names.count("snapshot") == 1 and followed.names.count("resync") == 0
    movements = defaultdict(list)
    for each in followed.seen:
        if "movement" in each:
            movements[each["itemId"]].append(each["movement"])
    for item in stock.items():
        told = [movement["onHandAfter"] for movement in movements[item["id"]]]
        assert told == list(range(999, 999 - len(told), -1)), "each item's changes come in their order"
        assert item["onHand"] == (told or [1000])[-1]


@pytest.mark.control
def test_without_the_id_changes_are_lost(service: Web, stock: Stock) -> None:
    """The negative control: a client that comes again as if for the first time."""

    class Forgetful(ReconnectingClient):
        def remember(self, id: str | None) -> None:
            self.position = ""

    followed = _followed(Forgetful(service, f"{stock.path}/stream", stock.owner.headers), stock, 1)
    assert [item["seq"] for item in _by_seq(followed)] != _all_changes()


def _followed(follower: ReconnectingClient, stock: Stock, seed: int) -> ReconnectingClient:
    """A client that followed a stock which others change, while its connection broke again and again."""
    chance = random.Random(seed)
    items = [stock.item(onHand=1000, reorderLevel=0) for _ in range(ITEMS)]
    with transaction() as session:
        session.execute(text("DELETE FROM inventory_change"))
    follower.start()
    wait_until(lambda: follower.position is not None)
    over = threading.Event()

    def cut() -> None:
        while not over.wait(chance.uniform(0.005, 0.1)):
            follower.cut()

    cutter = threading.Thread(target=cut)
    cutter.start()
    run_concurrently(WRITERS, lambda number: _write(stock, items, random.Random(seed * 100 + number)))
    over.set()
    cutter.join()
    _settled(follower)
    follower.over.set()
    follower.cut()
    follower.join(90)
    assert follower.begun > 1, "its connection broke at least once"
    return follower


def _write(stock: Stock, items: list[dict[str, object]], chance: random.Random) -> None:
    for _ in range(TURNS):
        data(stock.adjust(chance.choice(items), -1))
        time.sleep(chance.uniform(0, 0.03))


def _settled(follower: ReconnectingClient) -> None:
    """Waits until all has been told, or nothing more comes."""
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline and len(follower.seen) < len(_all_changes()):
        time.sleep(0.05)


def _by_seq(follower: ReconnectingClient) -> list[dict[str, int]]:
    return sorted(follower.seen, key=lambda item: int(item["seq"]))


def _all_changes() -> list[int]:
    with transaction() as session:
        return list(session.scalars(text("SELECT seq FROM inventory_change ORDER BY seq")))
