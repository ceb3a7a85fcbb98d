"""What is known at the end of a run, and the laws that it is held against.

A law is a function that gives a sentence for every case that breaks it. `tests/faults/test_laws.py` breaks the
database on purpose and sees each of them speak.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.core.db import db, transaction_engine
from tests.faults.suite.request_log import Journal, RequestRecord

SHOWN = 20
Law = Callable[["Evidence"], Iterable[str]]
LAWS: dict[str, Law] = {}


@dataclass
class Evidence:
    """The answers that were given, what left the house by mail and by the rail, and what was watched meanwhile.

    The database is that of the present application context.
    """

    journal: Journal = field(default_factory=Journal)
    mails: Counter[str] = field(default_factory=Counter)
    """Message-IDs that the mail server has noted, and how often."""
    rail: list[dict[str, Any]] = field(default_factory=list)
    """What the rail has noted."""
    audience: list[str] = field(default_factory=list)
    uncertain_allowed: int = 0
    is_database_clock_wrong: bool = False
    """Then scans may be refused as too far ahead or too old."""
    longest_transaction: float = 0.0
    leaks: dict[str, str] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)
    """What the program had no answer for, as it logged it."""
    round_trip: dict[str, Any] | None = None
    """What importing the export of the stock again would change."""
    gate_lists: list[str] = field(default_factory=list)
    """In what the lists of gate devices differ from new ones."""
    connection: Connection | None = None
    """RequestRecord instead of new ones, when what it sees is not committed."""

    def rows(self, statement: str, **values: Any) -> list[Any]:
        with self._connected() as connection:
            return list(connection.execute(text(statement), values))

    def driver_rows(self, statement: str, values: dict[str, Any]) -> list[Any]:
        """The same for statements with the driver's own parameters."""
        with self._connected() as connection:
            return list(connection.exec_driver_sql(statement, values))

    def allows(self, statement: str) -> bool:
        """Whether the database would do that; it is undone."""
        with self._connected() as connection, connection.begin_nested() as attempt:
            try:
                return bool(connection.execute(text(statement)).rowcount)
            except DBAPIError:
                return False
            finally:
                attempt.rollback()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self.connection is not None:
            yield self.connection
            return
        with transaction_engine(db.engine).connect() as connection:
            yield connection

    def said_yes(self, kind: str) -> Iterator[RequestRecord]:
        return self.journal.of(kind, outcome="ok")


def law(name: str) -> Callable[[Law], Law]:
    """Registers a law under its number in docs/reliability.md."""

    def register(check: Law) -> Law:
        if name in LAWS:
            raise ValueError(f"two laws are called {name}")
        LAWS[name] = check
        return check

    return register


def broken(found: Evidence) -> dict[str, list[str]]:
    """The sentences of every law that is broken."""
    said = {name: list(check(found)) for name, check in LAWS.items()}
    return {name: sentences[:SHOWN] for name, sentences in said.items() if sentences}
