"""How many statements something costs: a page that asks more often than it must is slow for everybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest


@contextmanager
def statements() -> Iterator[list[str]]:
    """Every statement that any connection of this process runs meanwhile, transactions' own words left out."""
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("execute", "executemany"):
            patch.setattr(psycopg.Cursor, name, _noting(getattr(psycopg.Cursor, name), seen))
        yield seen


def _noting(run: Any, seen: list[str]) -> Any:
    def noted(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        if not str(query).startswith(("SAVEPOINT", "RELEASE", "ROLLBACK")):
            seen.append(str(query))
        return run(cursor, query, *arguments, **options)

    return noted
