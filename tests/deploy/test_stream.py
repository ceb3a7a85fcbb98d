"""The live stream of a stock, through the proxy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse

import pytest
from flask import Flask

from tests.deploy.proxy import Proxy, Secure
from tests.deploy.upstreams import STREAMS_UNIT, Web, listening
from tests.factories.inventory import Stock
from tests.http import Client, data
from tests.streams import Event, events_of
from tests.timing import assert_in_time


def request_stream(site: Proxy, stock: Stock) -> tuple[Secure, HTTPResponse]:
    connection = Secure(site.secure, timeout=25)
    connection.request("GET", f"{stock.path}/stream", headers=stock.owner.headers)
    return connection, connection.getresponse()


@contextmanager
def followed(site: Proxy, stock: Stock) -> Iterator[Iterator[Event]]:
    connection, answer = request_stream(site, stock)
    # The web lends few places, and a stream of the test before holds its place for some seconds.
    for _ in range(10):
        if answer.status != 503:
            break
        connection.close()
        time.sleep(1)
        connection, answer = request_stream(site, stock)
    assert (answer.status, answer.getheader("content-type")) == (200, "text/event-stream; charset=utf-8")
    try:
        yield events_of(iter(lambda: answer.read1(65536), b""))
    finally:
        connection.close()


@pytest.fixture(params=["web", "streams unit"])
def streaming_site(request: pytest.FixtureRequest, site: Proxy, app: Flask) -> Iterator[Proxy]:
    """The site, where the web serves streams because nothing else does, or the unit for them."""
    if request.param == "web":
        yield site
        return
    socket = site.folder / "streams.sock"
    with listening(socket) as listener:
        unit = Web(app, site.folder, listener, STREAMS_UNIT)
        try:
            yield site
            written = [line for line in site.written if line["path"].endswith("/stream")]
            assert written[-1]["upstream"] == f"unix:{socket}"
        finally:
            unit.stop()
            socket.unlink()


def test_a_change_passes_the_proxy_as_it_commits(streaming_site: Proxy, client: Client) -> None:
    site, stock = streaming_site, Stock(client)
    item = stock.item()
    with followed(site, stock) as events:
        assert next(events).name == "snapshot"
        for delta in (-1, -2, -3):
            began = time.monotonic()
            data(stock.adjust(item, delta))
            found = next(events)
            assert found.name == "changes" and found.data["items"] == [stock.read(item)]
            assert_in_time(time.monotonic() - began < 1)


def test_sixty_tills_of_one_venue_are_not_limited(site: Proxy, client: Client) -> None:
    """More at once from one address than requests may be; the account's own limit is another matter."""
    stock = Stock(client)
    stock.item()
    connections = []
    for _ in range(60):
        connections.append(Secure(site.secure, timeout=25))
        connections[-1].request("GET", f"{stock.path}/stream", headers=stock.owner.headers)
    statuses = [connection.getresponse() for connection in connections]
    refused = [status for status in statuses if status.status != 200]
    assert {item.status for item in refused} <= {429, 503}
    # The program refuses with a code of its own (TOO_MANY_STREAMS, STREAMS_FULL); the proxy would say RATE_LIMITED.
    assert all(b"RATE_LIMITED" not in item.read() for item in refused)
    for connection in connections:
        connection.close()
