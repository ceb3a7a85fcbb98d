"""Options of the database engines, with and without a pooler.

A pooler in transaction mode (PgBouncer) lends a server's connection for one transaction. Prepared statements, LISTEN and
session settings do not survive that. When DATABASE_DIRECT_URL is set, DATABASE_URL is such a pooler, and whatever needs
a session uses the direct URL.
"""

from typing import Any, TypedDict

from sqlalchemy import URL, Engine, NullPool, create_engine, make_url

from app.config import Settings

# A pooler drops these; there the database account has them (deploy/pgbouncer/account.sql).
LIMITS = "-c statement_timeout=10s -c lock_timeout=3s -c idle_in_transaction_session_timeout=15s -c timezone=UTC"
POOL_TIMEOUT_SECONDS, CONNECT_TIMEOUT_SECONDS = 2, 3


class EngineOptions(TypedDict):
    """Arguments of `create_engine`; `connect_args` go to the driver."""

    pool_size: int
    max_overflow: int
    pool_timeout: int
    pool_use_lifo: bool
    hide_parameters: bool
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
        "hide_parameters": True,
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
