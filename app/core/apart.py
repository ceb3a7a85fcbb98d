"""A connection beside the pool, for those who ask how things are: a full pool must not look like an outage."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url


@contextmanager
def apart(url: str, *, seconds: float = 1.0) -> Iterator["psycopg.Connection[Any]"]:
    """A connection of its own that commits each statement by itself, none of which may take longer than `seconds`.

    Raises psycopg.Error, OSError.
    """
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    limit = f"-c statement_timeout={int(seconds * 1000)}"
    with psycopg.connect(plain, connect_timeout=2, options=limit, autocommit=True) as connection:
        yield connection
