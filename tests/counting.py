"""How many statements something costs: a page that asks more often than it must is slow for everybody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
import pytest

from tests.races import at_once

Found = TypeVar("Found")
RAIL = "payrail_mock_charge"
"""The stand-in for the payment rail keeps its own books here; the real one is a call over the network."""
OWN_WORDS = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


@contextmanager
def statements() -> Iterator[list[str]]:
    """Every statement that any connection of this process runs meanwhile, transactions' own words left out.

    It listens at the driver's cursor, which SQLAlchemy's statements and our hand-written ones both go through.
    """
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("execute", "executemany", "stream", "copy"):
            patch.setattr(psycopg.Cursor, name, _noting(getattr(psycopg.Cursor, name), seen))
        yield seen


def counted(call: Callable[[], Found]) -> tuple[Found, list[str]]:
    """What a request answers and the statements it took, made as a server does: by a thread that knows nothing yet.

    Requests inside a test share its context, where objects that earlier ones have read would save statements.
    """
    with statements() as seen:
        (answer,) = at_once(1, lambda _: call())
    return answer, seen


def _noting(run: Any, seen: list[str]) -> Any:
    def noted(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        if not str(query).lstrip().upper().startswith(OWN_WORDS) and RAIL not in str(query):
            seen.append(str(query))
        return run(cursor, query, *arguments, **options)

    return noted
