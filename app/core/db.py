"""The database: what tables are made of, and what the driver itself is asked, without a session's price."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psycopg
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import CheckConstraint, DateTime, Engine, MetaData, PoolProxiedConnection, String, exc, make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.sql.elements import ClauseElement

from app.core.ids import new_id
from app.core.session import ReadOrWriteSession

if TYPE_CHECKING:
    from app.core.replica import Replica

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
ObjectId = String(24, collation="C")
Timestamp = DateTime(timezone=True)
Parameters = Sequence[Any] | Mapping[str, Any]
Statement = str | ClauseElement
Query = Callable[[Any], Any]
# An export is read as slowly as its reader reads; never by settings of a session, which a pooler would lend to others.
EXPORT_TIMEOUTS = "SET LOCAL statement_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = '10min'"
DIALECT = make_url("postgresql+psycopg://").get_dialect()()


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING_CONVENTION)


db = SQLAlchemy(
    model_class=Base,
    session_options={"class_": ReadOrWriteSession, "expire_on_commit": False, "autoflush": False},
)


def one_of(column: str, values: Iterable[str], *, name: str | None = None) -> CheckConstraint:
    """A constraint that the column has one of these values."""
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, values))})", name=name or column)


def id_column() -> Mapped[str]:
    """The primary key every table of named things has."""
    return mapped_column(ObjectId, primary_key=True, default=new_id)


def fetch_row(statement: Statement, parameters: Parameters, *, prepare: bool | None = None) -> tuple[Any, ...] | None:
    """The first row of a statement, run by the driver itself: a third of what a session's `execute` costs.

    Inside `transaction()` it is part of the transaction. Otherwise it borrows an autocommitting connection for just
    this statement. If the connection turns out to be dead, the pool is emptied and the statement runs again.
    Raises psycopg.Error.
    """
    row: tuple[Any, ...] | None = _run(
        lambda cursor: cursor.execute(driver_sql(statement), parameters, prepare=prepare).fetchone()
    )
    return row


def fetch_rows(statement: Statement, parameters: Parameters, *, prepare: bool | None = None) -> list[tuple[Any, ...]]:
    """All rows of a statement, in the same way. `prepare=False` plans it for its parameters each time."""
    rows: list[tuple[Any, ...]] = _run(
        lambda cursor: cursor.execute(driver_sql(statement), parameters, prepare=prepare).fetchall()
    )
    return rows


def database_now() -> datetime:
    """The time by the clock of the database, which times what is stored; that of the transaction in which it is asked.

    A moment from a client is compared with this: the clock of this process may be ahead or behind.
    """
    row = fetch_row("SELECT now()", ())
    assert row is not None
    now: datetime = row[0]
    return now


def execute_autocommit(statement: Statement, parameters: Parameters) -> tuple[Any, ...] | None:
    """The first row of a writing statement that commits by itself; `app.core.transaction.write_row` decides whether it
    may. It is never sent twice: a connection that dies with it leaves unknown whether it happened."""
    with closing(db.engine.raw_connection()) as lent:
        row: tuple[Any, ...] | None = _run_autocommitted(
            lent, lambda it: it.execute(driver_sql(statement), parameters).fetchone()
        )
        return row


@lru_cache(4096)
def driver_sql(statement: Statement) -> str:
    """The text that the driver runs: of a Core statement with its parameters by name; of SQL text without indentation.

    The driver remembers how to send a text under 4 KB. The cache compares Core statements by identity: build one once.
    """
    if not isinstance(statement, str):
        return str(statement.compile(dialect=DIALECT))
    return "\n".join(line.strip() for line in statement.splitlines())


def copy_out(statement: str, parameters: Mapping[str, Any], *, block: int = 64 * 1024) -> Iterator[bytes]:
    """What a `COPY … TO STDOUT` gives, in blocks. It holds a connection until it is read or closed, for ten minutes at
    most: anyone who reads slowly is waited for, and not for ever. It may be read when the request that asked is over."""
    return _copy_with_fallback(_replica.get(), db.engine, statement, parameters, block)


def _copy_with_fallback(
    replica: "Replica | None", engine: Engine, statement: str, parameters: Mapping[str, Any], block: int
) -> Iterator[bytes]:
    begun = False
    if replica is not None:
        try:
            for part in _copy_from(replica.engine, statement, parameters, block):
                begun = True
                yield part
            return
        except OPERATIONAL as error:
            if begun or not _can_retry_on_primary(replica, error):
                raise
    yield from _copy_from(engine, statement, parameters, block)


def _copy_from(engine: Engine, statement: str, parameters: Mapping[str, Any], block: int) -> Iterator[bytes]:
    with closing(engine.raw_connection()) as pooled:
        try:
            with _connection(pooled).cursor() as cursor:
                cursor.execute(EXPORT_TIMEOUTS)
                with cursor.copy(statement, parameters) as copy:
                    yield from _in_blocks(copy, block)
        except BaseException:
            pooled.invalidate()
            raise


def _in_blocks(rows: Iterable[memoryview], block: int) -> Iterator[bytes]:
    gathered = bytearray()
    for row in rows:
        gathered += row
        if len(gathered) >= block:
            yield bytes(gathered)
            gathered.clear()
    yield bytes(gathered)


IDLE = psycopg.pq.TransactionStatus.IDLE
OPERATIONAL = (psycopg.OperationalError, exc.OperationalError)
_replica: ContextVar["Replica | None"] = ContextVar("elsewhere", default=None)


@contextmanager
def read_from(replica: "Replica") -> Iterator[None]:
    """What is fetched and copied inside comes from the replica; from the primary after all once that fails.

    Only `app.core.replica_routing` and the replica itself say this; domains say what a read bears.
    """
    token = _replica.set(replica)
    try:
        yield
    finally:
        _replica.reset(token)


def _run(query: Query) -> Any:
    replica = _replica.get()
    if replica is not None and not db.session().info.get("writing"):
        try:
            with closing(replica.engine.raw_connection()) as pooled:
                return _run_autocommitted(pooled, query)
        except OPERATIONAL as error:
            if not _can_retry_on_primary(replica, error):
                raise
            _replica.set(None)
    return _run_on_primary(query)


def _can_retry_on_primary(replica: "Replica", error: Exception) -> bool:
    """Whether the replica is to blame, so that the primary may answer; False when the statement took too long."""
    cause = getattr(error, "orig", error)
    state = getattr(cause, "sqlstate", None) or ""
    # 40001: rows that the statement needs were cleaned away on the primary. The replica itself is well.
    if state not in ("40001", "57014"):
        replica.mark_unavailable()
    return state != "57014"


def _run_on_primary(query: Query) -> Any:
    if db.session.registry.has() and (db.session().info.get("writing") or db.session().in_transaction()):
        return query(_cursor(db.session().connection().connection))
    pooled = db.engine.raw_connection()
    try:
        return _run_autocommitted(pooled, query)
    except psycopg.OperationalError:
        if pooled.driver_connection is not None:
            raise
        db.engine.dispose()
    finally:
        pooled.close()
    with closing(db.engine.raw_connection()) as fresh:
        return _run_autocommitted(fresh, query)


def _run_autocommitted(pooled: PoolProxiedConnection, query: Query) -> Any:
    """The answer, without a transaction around it."""
    driver: Any = pooled.driver_connection
    try:
        if driver.closed:
            raise psycopg.OperationalError("the connection is closed")
        driver.autocommit = True
        return query(_cursor(pooled))
    finally:
        if driver.info.transaction_status is IDLE:
            driver.autocommit = False
        else:  # The server has said that it goes, or went: nobody may be lent this one again.
            pooled.invalidate()


def _connection(pooled: PoolProxiedConnection) -> Any:
    return pooled.driver_connection


def _cursor(pooled: PoolProxiedConnection) -> Any:
    """The one cursor that is kept with a connection."""
    driver: Any = pooled.driver_connection
    return pooled.info.get("cursor") or pooled.info.setdefault("cursor", driver.cursor())


def release_connection() -> None:
    """Gives the reading connection back to the pool before something slow; the next read takes another."""
    db.session.close()
