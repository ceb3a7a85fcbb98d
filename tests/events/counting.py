"""How many statements something costs, those of the driver included."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SELECTs and writes that run inside the block."""
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        run = psycopg.Cursor.execute

        def counted(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
            seen.append(str(query))
            return run(self, query, *arguments, **options)

        patch.setattr(psycopg.Cursor, "execute", counted)
        yield seen
