"""Servers that several tests share, and what is skipped where Debian's programs are not installed."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event

from app.core.db import db
from app.core.replica import Replica
from tests import stores
from tests.conftest import empty
from tests.faults.service import kept_open
from tests.http import Client, data
from tests.settings import app_for
from tests.topology.nodes import Pair, two_nodes
from tests.topology.postgres import Server, pair
from tests.waiting import wait_until

STALENESS = 1.5
_numbers = count(1)


def needs(program: str) -> pytest.MarkDecorator:
    """Skips without that program; where the suite must be whole, its absence is a failure."""
    absent = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None
    return pytest.mark.skipif(absent and not os.environ.get("CI"), reason=f"{program} is not installed")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with kept_open() as folder:
        yield folder


@pytest.fixture(scope="package")
def nodes_behind_nginx(application: Flask) -> Iterator[Pair]:
    with two_nodes(application.extensions["settings"]) as found:
        yield found


@pytest.fixture
def two(nodes_behind_nginx: Pair) -> Pair:
    """Both up and served, whatever the test before has done to them."""
    nodes_behind_nginx.whole()
    return nodes_behind_nginx


@dataclass
class Site:
    """An application before a primary and its replica."""

    app: Flask
    client: Client
    primary: Server
    replica: Server

    @property
    def following(self) -> Replica:
        found: Replica = self.app.extensions["replica"]
        return found

    def follows(self) -> None:
        """Returns once this process knows that its replica shows all that was written by now."""
        now = time.monotonic()
        wait_until(lambda: self.following.is_fresh_since(now))

    def name_of(self, made: dict[str, Any], client: Client | None = None, *, fresh: bool = True) -> str:
        """The name on an event's public page; a `fresh` one has not been asked for before."""
        query = {"n": next(_numbers)} if fresh else {}
        return str(data((client or self.client).get(f"/api/events/public/{made['id']}", query_string=query))["name"])

    def rename_elsewhere(self, made: dict[str, Any], name: str) -> None:
        """As another machine does it: this one hears nothing of it."""
        self.primary.ask("UPDATE event SET name = %s WHERE id = %s", name, made["id"])

    def reads(self) -> list[object]:
        """A list that grows with every read from the replica."""
        seen: list[object] = []
        event.listen(self.following.engine, "checkout", lambda *_: seen.append(1))
        return seen


def site_of(primary: Server, replica: Server, worker: str, folder: Path, staleness: float = STALENESS) -> Flask:
    return app_for(
        database_url=primary.url,
        redis_url=stores.redis_of(worker),
        data_dir=folder,
        DATABASE_REPLICA_URL=replica.url,
        DATABASE_REPLICA_STALENESS=str(staleness),
    )


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    with kept_open() as folder, pair(folder) as both:
        yield both


@pytest.fixture(scope="module")
def replicated(
    servers: tuple[Server, Server], worker: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Flask]:
    app = site_of(*servers, worker, tmp_path_factory.mktemp("data"))
    yield app
    with app.app_context():
        db.engine.dispose()


@pytest.fixture
def site(replicated: Flask, servers: tuple[Server, Server]) -> Iterator[Site]:
    """Empty, and followed."""
    primary, replica = servers
    with replicated.app_context():
        empty(replicated)
        yield Site(replicated, Client(replicated.test_client()), primary, replica)
        db.session.remove()
    replica.stand_still(still=False)
