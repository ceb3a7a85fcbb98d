"""The site as it is shipped, before the service itself and before a server that tells what it was asked."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.deploy.proxy import NGINX, Proxy, proxy
from tests.deploy.upstreams import Mirrors, listening, mirrors, web

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without nginx there is nothing to try; where the suite must be whole, its absence is a failure."""
    absent = NGINX is None and not os.environ.get("CI")
    for item in items:
        if absent and item.path.parent == HERE and {"site", "mirrored", "proxied", "machine"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.skip(reason="nginx is not installed (apt-get install nginx)"))


@pytest.fixture(scope="module")
def site(application: Flask) -> Iterator[Proxy]:
    """nginx before the service, on the database of the tests."""
    with proxy(**{"rate=200r/s": "rate=100000r/s"}) as found, listening(found.socket) as listener:
        with web(application, found.folder, listener):
            yield found


@pytest.fixture(scope="module")
def mirrored() -> Iterator[tuple[Proxy, Mirrors]]:
    """nginx before a server that tells what it was asked; it waits a second for an answer, not thirty-five."""
    slower = {"proxy_read_timeout 35s": "proxy_read_timeout 1s", "worker_processes auto": "worker_processes 1"}
    with proxy(**slower) as found, mirrors(found.socket) as server:
        yield found, server


@pytest.fixture
def proxied() -> Any:
    """`with proxied(**replacements) as site:` for an nginx of a test's own."""
    return proxy
