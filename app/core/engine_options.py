"""How connections are made: what all of them are told, and what differs behind a pooler.

A pooler in transaction mode (PgBouncer) lends a server's connection for one transaction. What outlives a transaction is
lost there: prepared statements, LISTEN, a session's settings. With DATABASE_DIRECT_URL set, DATABASE_URL is taken for
such a pooler, and what needs a session goes the direct way.
"""

from typing import Any

from sqlalchemy import URL, Engine, NullPool, create_engine, make_url

from app.config import Settings

# A pooler leaves these out; there they are the account's own (deploy/pgbouncer/account.sql).
LIMITS = "-c statement_timeout=10s -c lock_timeout=3s -c idle_in_transaction_session_timeout=15s -c timezone=UTC"
WAIT_FOR_ONE = 2


def to_sqlalchemy_url(url: str) -> URL:
    """An address of the settings as SQLAlchemy takes it."""
    return make_url(url).set(drivername="postgresql+psycopg")


def engine_options(settings: Settings, **words: Any) -> dict[str, Any]:
    """What `create_engine` takes for a pool of this process; `words` go to the driver."""
    return {
        "pool_size": settings.DATABASE_POOL,
        "max_overflow": 0,
        "pool_timeout": WAIT_FOR_ONE,
        "pool_use_lifo": True,
        "hide_parameters": True,
        "connect_args": {"connect_timeout": 3, "options": LIMITS, **_prepared(settings), **words},
    }


def direct_url(settings: Settings) -> str:
    """The way to the database itself, past a pooler."""
    return settings.DATABASE_DIRECT_URL or settings.DATABASE_URL


def create_direct_engine(settings: Settings) -> Engine:
    """An engine without a pool on that way, for what needs a session: migrations."""
    words = {"connect_timeout": 3, "options": LIMITS}
    return create_engine(
        to_sqlalchemy_url(direct_url(settings)), poolclass=NullPool, hide_parameters=True, connect_args=words
    )


def _prepared(settings: Settings) -> dict[str, Any]:
    return {"prepare_threshold": None} if settings.DATABASE_DIRECT_URL else {}
