"""Connections outside the pool, for health checks and LISTEN: a full pool must not look like an outage."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

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
