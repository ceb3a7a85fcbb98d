"""Streams from gunicorn, over sockets, with its own two workers of eight threads."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.factories.inventory import Stock
from tests.faults.service import kept_open
from tests.http import Client, data
from tests.streams import Web, web


@pytest.fixture
def stock(client: Client) -> Stock:
    return Stock(client)


@pytest.fixture
def service(app: Flask) -> Iterator[Web]:
    with kept_open() as folder, web(app, folder) as found:
        yield found


def test_a_change_is_told_as_it_commits(service: Web, stock: Stock) -> None:
    item = stock.item()
    listening = service.listen(f"{stock.path}/stream", stock.owner.headers)
    position = listening.snapshot()
    data(stock.adjust(item, -1))
    found = listening.next(5)
    assert found is not None and found.name == "changes" and found.id != position
    assert found.data["items"] == [stock.read(item)]
    listening.close()
