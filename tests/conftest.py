"""Fixtures of all tests: an application with an empty database, and a JSON client."""

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from flask import Flask
from redis import Redis
from sqlalchemy import text

from app.accounts import authentication
from app.core import cache_invalidation, connections
from app.core.db import db, transaction_engine
from app.core.outbox import wakeup
from app.core.transaction import transaction
from mock_rail import MockServer, Options
from tests import steps, stores
from tests.factories import accounts
from tests.http import Client
from tests.leaks.watch import Watch
from tests.settings import MOCK_RAIL_URL, app_for, settings_for

# The tests start processes that must not read the .env of a developer.
os.environ["FLASK_SKIP_DOTENV"] = "1"
KEPT_TABLES = {"alembic_version", "signing_key"}
EMPTY_TABLES, MANY_ROWS = "delete_rows_of_all_tables", 1000
SERVICE_FOLDERS = {"deploy", "docs", "faults", "topology"}
LONGEST_FILES = {
    "test_clients",
    "test_commands",
    "test_festival",
    "test_guests_browser",
    "test_mixture",
    "test_outbox_faults",
    "test_upgrades",
}
REAL_HASHER = authentication.HASHER
_servers = ExitStack()
# Hashes of real cost and the garbage of a million objects of modules would be a fifth of the suite's time.
authentication.HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
gc.set_threshold(100_000, 20, 100)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Watch(), "leaks")
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        stores.start_stores(_servers)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the longest tests and those that start whole services to the front, so that no worker ends with a long test.

    A control test, whose race may not happen, is retried up to four times. Other tests are not.
    """
    items.sort(key=lambda item: (item.path.stem not in LONGEST_FILES, item.path.parent.name not in SERVICE_FOLDERS))
    for item in items:
        if item.get_closest_marker("control"):
            item.add_marker(pytest.mark.flaky(reruns=4, only_rerun=".*"))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _servers.close()


@pytest.fixture(scope="session")
def worker() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@pytest.fixture(scope="session")
def rail_server() -> Iterator[MockServer]:
    """One mock rail per test worker, which hangs up at once where an outcome is unknown."""
    ours = settings_for(database_url="", redis_url="")
    options = Options(key=ours.PAYRAIL_KEY or "", secret=ours.PAYRAIL_SECRET or "", hang=0.0)
    with MockServer(options).running() as server:
        os.environ[MOCK_RAIL_URL] = server.url
        yield server


@pytest.fixture(scope="session")
def application(worker: str, rail_server: MockServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """One application per test worker, on a clone of the migrated template."""
    url = stores.database_of(worker)
    folder: Path = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        # 64 threads share 20 connections: on a busy machine the last waits longer than a request of the service may.
        patch.setattr(connections, "POOL_TIMEOUT_SECONDS", 30)
        app = app_for(database_url=url, redis_url=stores.redis_of(worker), data_dir=folder)
    if os.environ.get("ONLY_DRAWN_STEPS"):
        with app.app_context(), transaction_engine(db.engine).begin() as connection:
            steps.guard(connection)
    yield app
    with app.app_context():
        db.engine.dispose()
    stores.drop(url)


@pytest.fixture
def app(application: Flask, rail_server: MockServer) -> Iterator[Flask]:
    """The application with empty tables, Redis and rail, no pages in its cache, and a context around the test."""
    with application.app_context():
        empty(application)
        with transaction() as session:
            cache_invalidation.invalidate(session, "events")
        rail_server.reset()
        yield application
        db.session.remove()


@pytest.fixture
def real_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Password hashes cost what they cost in the service."""
    monkeypatch.setattr(authentication, "HASHER", REAL_HASHER)
    monkeypatch.setattr(accounts, "_password_hashes", [])
    authentication._get_dummy_hash.cache_clear()
    yield
    authentication._get_dummy_hash.cache_clear()


@pytest.fixture
def client(app: Flask) -> Client:
    return Client(app.test_client())


def empty(app: Flask) -> None:
    """Removes all rows, Redis keys and mails."""
    settings = app.extensions["settings"]
    _create_function(settings.DATABASE_URL)
    with transaction_engine(db.engine).begin() as connection:
        large = connection.scalar(text(f"SELECT {EMPTY_TABLES}()"))
    if large:
        with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"VACUUM {large}"))
    _connect_to_redis(settings.REDIS_URL).flushdb()
    if wakeup_queue := app.extensions.get(wakeup.EXTENSION):
        wakeup_queue.is_full, wakeup_queue.paused_until = False, 0.0
    for path in (settings.DATA_DIR / "mail").glob("*"):
        path.unlink()


@cache
def _create_function(database_url: str) -> None:
    """Creates the function that deletes all rows and returns the tables that had many.

    The database plans its statements once, not before each test. The tests' database has no autovacuum, so the pages
    of a hundred thousand deleted rows would be read before each later test.
    """
    tables = [table.name for table in reversed(db.metadata.sorted_tables) if table.name not in KEPT_TABLES]
    deletes = " ".join(
        f'DELETE FROM "{name}"; GET DIAGNOSTICS deleted = ROW_COUNT; '
        f"IF deleted > {MANY_ROWS} THEN large := array_append(large, quote_ident('{name}')); END IF;"
        for name in tables
    )
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(
            text(
                f"CREATE OR REPLACE FUNCTION {EMPTY_TABLES}() RETURNS text LANGUAGE plpgsql "
                "SET session_replication_role = replica AS $$ DECLARE deleted bigint; large text[]; "
                f"BEGIN {deletes} RETURN array_to_string(large, ', '); END $$"
            )
        )


@cache
def _connect_to_redis(url: str) -> Redis:
    return Redis.from_url(url)
