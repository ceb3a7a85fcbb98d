"""Counts the SQL statements of a call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
import pytest

from tests.races import run_concurrently

Result = TypeVar("Result")
TRANSACTION_COMMANDS = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


@contextmanager
def record_statements() -> Iterator[list[str]]:
    """Every statement that this process executes inside the block, without transaction commands.

    It patches the driver's cursor, which executes both SQLAlchemy's statements and SQL text.
    """
    executed: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("execute", "executemany", "stream", "copy"):
            patch.setattr(psycopg.Cursor, name, _with_recording(getattr(psycopg.Cursor, name), executed))
        yield executed


def count_statements(call: Callable[[], Result]) -> tuple[Result, list[str]]:
    """The result of a call and its statements. It runs in a new thread, like a request on a server.

    Calls in the thread of the test share its session, where loaded objects would save statements.
    """
    with record_statements() as executed:
        (result,) = run_concurrently(1, lambda _: call())
    return result, executed


def _with_recording(run: Any, executed: list[str]) -> Any:
    def recording_call(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        if not str(query).lstrip().upper().startswith(TRANSACTION_COMMANDS):
            executed.append(str(query))
        return run(cursor, query, *arguments, **options)

    return recording_call
