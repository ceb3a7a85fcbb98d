"""Two hundred listeners: what they cost others, and how soon they are told."""

import selectors
import time
from collections.abc import Iterator
from itertools import count
from statistics import quantiles

import pytest
from flask import Flask

from app.accounts import sessions
from app.core.transaction import transaction
from app.web.access import serialize_sign_in
from tests.factories.accounts import create_account
from tests.factories.inventory import Stock
from tests.faults.service import call, kept_open
from tests.http import Client, data
from tests.inventory.test_streams import connections
from tests.streams import STREAMS_UNIT, StreamClient, Web, run_web

pytestmark = pytest.mark.slow

CROWD, NEWCOMERS, EACH = 160, 40, 5
WORKERS, POOL = 1, 2
ASKED = 150
_addresses = count(1)


@pytest.fixture
def service(app: Flask) -> Iterator[Web]:
    with kept_open() as folder, run_web(app, folder, *STREAMS_UNIT, DATABASE_POOL=str(POOL), PROXY_HOPS="1") as found:
        yield found


@pytest.fixture
def web(app: Flask) -> Iterator[Web]:
    """The processes for everything but streams."""
    with kept_open() as folder, run_web(app, folder) as found:
        yield found


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


def test_two_hundred_listen_and_other_requests_stay_fast(service: Web, web: Web, stock: Stock, app: Flask) -> None:
    item, before = stock.item(), _answers(web)
    _, held = connections(app)
    crowd = [listening for headers in _tokens(CROWD // EACH) for listening in _five(service, stock, headers)]
    crowd += [service.listen(f"{stock.path}/stream", headers) for headers in _tokens(NEWCOMERS)]
    for each in crowd:
        each.snapshot()
    during, (ears, every) = _answers(web), connections(app)
    assert ears <= WORKERS and every - held <= WORKERS * POOL + ears, "an ear for each worker, and what it had anyway"
    assert during < max(2 * before, 0.25), "what is asked of a loaded machine; the benchmark asks for the ratio"
    late = service.listen(f"{stock.path}/stream", stock.owner.headers)
    assert (late.status, late.answer.headers["Retry-After"]) == (503, "10")
    data(stock.adjust(item, -1))
    assert _all_told(crowd) < 5
    for each in crowd:
        each.close()


def _five(service: Web, stock: Stock, headers: dict[str, str]) -> Iterator[StreamClient]:
    for _ in range(EACH):
        yield service.listen(f"{stock.path}/stream", headers)


def _tokens(people: int) -> Iterator[dict[str, str]]:
    """Headers of so many admins, each at a client network of their own."""
    for _ in range(people):
        who = create_account("admin")
        with transaction() as session:
            begun = sessions.create_session(session, who)
        address = f"203.0.113.{next(_addresses)}"
        yield {"Authorization": f"Bearer {serialize_sign_in(begun)['access_token']}", "X-Forwarded-For": address}


def _answers(service: Web) -> float:
    """The p99 of `/health`, in seconds, one request after the other."""
    took = []
    for _ in range(ASKED):
        began = time.perf_counter()
        assert call(f"http://127.0.0.1:{service.port}/health", timeout=5)[0] == 200
        took.append(time.perf_counter() - began)
    return quantiles(took, n=100)[98]


def _all_told(crowd: list[StreamClient]) -> float:
    """The seconds until each has something to read."""
    began, waiting = time.monotonic(), selectors.DefaultSelector()
    for item in crowd:
        waiting.register(item.socket, selectors.EVENT_READ)
    while waiting.get_map():
        found = waiting.select(10)
        assert found, "somebody was not told"
        for key, _ in found:
            waiting.unregister(key.fileobj)
    return time.monotonic() - began
