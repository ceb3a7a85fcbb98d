"""A connection beside the pool, for those who ask how things are: a full pool must not look like an outage."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from app.core.db import DIALECT


@contextmanager
def dedicated_connection(url: str, *, seconds: float = 1.0) -> Iterator["psycopg.Connection[Any]"]:
    """A connection of its own that commits each statement by itself, none of which may take longer than `seconds`.

    Raises psycopg.Error, OSError.
    """
    limit = f"-c statement_timeout={int(seconds * 1000)}"
    words = connect_arguments(url, connect_timeout=2, options=limit)
    with psycopg.connect(**words, autocommit=True, prepare_threshold=None) as connection:
        yield connection


def connect_arguments(url: str, **more: Any) -> dict[str, Any]:
    """What the driver takes for an address of the settings, which may name several hosts, with `more` words."""
    words: dict[str, Any] = dict(DIALECT.create_connect_args(make_url(url))[1])
    # SQLAlchemy's own ways with types; the driver's are meant here.
    words.pop("context", None)
    return words | more
