"""The site as it is shipped, before the service itself and before a server that tells what it was asked."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.deploy.proxy import NGINX, Proxy, proxy
from tests.deploy.upstreams import Mirrors, Web, listening, mirrors, web

HERE = Path(__file__).parent
BEHIND = {"served", "mirrored", "proxied"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without nginx there is nothing to try; where the suite must be whole, its absence is a failure."""
    absent = NGINX is None and not os.environ.get("CI")
    mark = pytest.mark.skipif(absent, reason="nginx is not installed (apt-get install nginx)")
    for item in items:
        if item.path.parent == HERE and BEHIND & set(getattr(item, "fixturenames", ())):
            item.add_marker(mark)


@pytest.fixture(scope="session")
def served(application: Flask) -> Iterator[tuple[Proxy, Web]]:
    """nginx before the service, on the database of the tests."""
    with (
        proxy(**{"rate=200r/s": "rate=100000r/s"}) as found,
        listening(found.socket) as listener,
        web(application, found.folder, listener) as main,
    ):
        yield found, main


@pytest.fixture
def site(served: tuple[Proxy, Web]) -> Proxy:
    return served[0]


@pytest.fixture(scope="session")
def mirrored() -> Iterator[tuple[Proxy, Mirrors]]:
    """nginx before a server that tells what it was asked; it waits a second for an answer, not thirty-five."""
    quicker = {
        "proxy_read_timeout 35s": "proxy_read_timeout 1s",
        "proxy_next_upstream_timeout 4s": "proxy_next_upstream_timeout 1s",
        "worker_processes auto": "worker_processes 1",
    }
    with proxy(**quicker) as found, mirrors(found.socket) as server:
        yield found, server


@pytest.fixture
def proxied() -> Any:
    """`with proxied(**replacements) as site:` for an nginx of a test's own."""
    return proxy
