"""The stores of a test run: one PostgreSQL and one Redis, with a database and a Redis number for each worker.

With DATABASE_URL and REDIS_URL these servers are used. Otherwise the controlling process starts embedded ones.
"""

import os
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from app.embedded import servers
from app.embedded.binaries import find_redis
from app.embedded.os_user import Account

ROOT = Path(__file__).resolve().parent.parent
ALLOW_FAKE_REDIS = "ALLOW_FAKE_REDIS"
DATABASE, REDIS, TEMPLATE = "TEST_DATABASE_URL", "TEST_REDIS_URL", "TEST_TEMPLATE"


def start_stores(stack: ExitStack) -> None:
    """Finds or starts the servers, creates the migrated template, and sets the environment variables."""
    database, redis = os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")
    if not (database and redis):
        state = Path(os.environ.get("DATA_DIR") or ROOT / "var") / "tests" / str(os.getpid())
        if not redis and find_redis(Account(), spare=state) is None and not os.environ.get(ALLOW_FAKE_REDIS):
            raise pytest.UsageError(
                "The tests need a real Redis: install redis-server or valkey-server, or set REDIS_URL. "
                f"{ALLOW_FAKE_REDIS}=1 runs them with a stand-in in memory; then tests that need Redis itself fail."
            )
        stack.callback(_remove, state)
        embedded = stack.enter_context(servers(state, durable=False))
        database, redis = database or embedded.database_url, redis or embedded.redis_url
    os.environ[DATABASE], os.environ[REDIS] = database, redis
    os.environ[TEMPLATE] = _template(database)


def database_of(worker: str) -> str:
    """The URL of a new clone of the template for one test worker."""
    name = f"t_{worker}_{os.getpid()}"
    with _maintenance(os.environ[DATABASE]) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{os.environ[TEMPLATE]}" STRATEGY FILE_COPY')
    return set_database(os.environ[DATABASE], name)


def drop(url: str) -> None:
    with _maintenance(os.environ[DATABASE]) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{make_url(url).database}" WITH (FORCE)')


def redis_of(worker: str) -> str:
    """The Redis URL with the worker's own database number. Number 0 stays free."""
    number = 1 + int(worker.removeprefix("gw") or 0) if worker.startswith("gw") else 1
    redis_url = os.environ[REDIS]
    return (
        f"{redis_url.partition('?')[0]}?db={number}"
        if redis_url.startswith("unix")
        else f"{_without_path(redis_url)}/{number}"
    )


def set_database(url: str, database: str) -> str:
    return make_url(url).set(database=database).render_as_string(hide_password=False)


def _template(url: str) -> str:
    from flask_migrate import upgrade

    from tests.settings import app_for

    versions = sorted((ROOT / "migrations" / "versions").glob("*.py"))
    name = "template_" + sha256(b"".join(version.read_bytes() for version in versions)).hexdigest()[:12]
    with _maintenance(url) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            return name
        connection.execute(f'DROP DATABASE IF EXISTS "{name}_new"')
        connection.execute(f'CREATE DATABASE "{name}_new"')
    app = app_for(database_url=set_database(url, f"{name}_new"), redis_url=os.environ[REDIS])
    with app.app_context():
        from app.core.db import db

        upgrade(directory=str(ROOT / "migrations"))
        db.engine.dispose()
    with _maintenance(url) as connection:
        connection.execute(f'ALTER DATABASE "{name}_new" RENAME TO "{name}"')
    return name


def _maintenance(url: str) -> psycopg.Connection:
    plain = make_url(url).set(drivername="postgresql", database="postgres")
    return psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True)


def _without_path(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.split('/')[0]}"


def _remove(state: Path) -> None:
    import shutil

    shutil.rmtree(state, ignore_errors=True)
