"""Options of database connections, and connections outside the pool, for which a full pool is no outage.

A pooler in transaction mode (PgBouncer) lends a server's connection for one transaction. Prepared statements, LISTEN and
session settings do not survive that. When DATABASE_DIRECT_URL is set, DATABASE_URL is such a pooler, and whatever needs
a session uses the direct URL.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import orjson
import psycopg
from sqlalchemy import URL, Engine, NullPool, create_engine, make_url

from app.config import Settings
from app.core.db import DIALECT, DriverConnection


@contextmanager
def dedicated_connection(url: str, *, seconds: float = 1.0) -> Iterator[DriverConnection]:
    """Open an autocommitting connection whose statements may take `seconds` each.

    Raises psycopg.Error, OSError.
    """
    statement_timeout = f"-c statement_timeout={int(seconds * 1000)}"
    arguments = connect_arguments(url, connect_timeout=2, options=statement_timeout)
    with psycopg.connect(**arguments, autocommit=True, prepare_threshold=None) as connection:
        yield connection


def connect_arguments(url: str, **options: object) -> dict[str, Any]:
    """Return psycopg's keyword arguments for a database URL, which may name several hosts, plus the options."""
    arguments: dict[str, Any] = dict(DIALECT.create_connect_args(make_url(url))[1])
    # SQLAlchemy's type adapters; a plain connection uses psycopg's own.
    arguments.pop("context", None)
    return arguments | options


# A pooler drops these; there the database account has them (deploy/pgbouncer/account.sql).
LIMITS = "-c statement_timeout=10s -c lock_timeout=3s -c idle_in_transaction_session_timeout=15s -c timezone=UTC"
POOL_TIMEOUT_SECONDS, CONNECT_TIMEOUT_SECONDS = 2, 3


class EngineOptions(TypedDict):
    """Arguments of `create_engine`; `connect_args` go to the driver."""

    pool_size: int
    max_overflow: int
    pool_timeout: int
    pool_use_lifo: bool
    isolation_level: str
    skip_autocommit_rollback: bool
    hide_parameters: bool
    json_deserializer: Callable[[bytes], Any]
    connect_args: dict[str, Any]


def to_sqlalchemy_url(url: str) -> URL:
    """Return a database URL of the settings with SQLAlchemy's driver name."""
    return make_url(url).set(drivername="postgresql+psycopg")


def engine_options(settings: Settings, **driver_options: int) -> EngineOptions:
    """Return the options of this process's connection pool."""
    prepared = {"prepare_threshold": None} if settings.DATABASE_DIRECT_URL else {}
    return {
        "pool_size": settings.DATABASE_POOL,
        "max_overflow": 0,
        "pool_timeout": POOL_TIMEOUT_SECONDS,
        "pool_use_lifo": True,
        "isolation_level": "AUTOCOMMIT",
        "skip_autocommit_rollback": True,
        "hide_parameters": True,
        "json_deserializer": orjson.loads,
        "connect_args": {
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "options": LIMITS,
            **prepared,
            **driver_options,
        },
    }


def direct_url(settings: Settings) -> str:
    """Return the URL of the database itself, without a pooler."""
    return settings.DATABASE_DIRECT_URL or settings.DATABASE_URL


def create_direct_engine(settings: Settings) -> Engine:
    """Return an engine without a pool on the direct URL, for migrations, which need a session."""
    return create_engine(
        to_sqlalchemy_url(direct_url(settings)),
        poolclass=NullPool,
        hide_parameters=True,
        connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS, "options": LIMITS},
    )
