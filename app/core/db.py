"""SQLAlchemy setup, the session, and reads and writes that run on the driver (psycopg) without the cost of a session.

The session reads without a transaction and writes only inside `transaction()`. A single SELECT needs no BEGIN and
ROLLBACK; leaving them out gains a fifth of the request rate (docs/decisions/autocommit-reads.md). So the session reads on
autocommitting connections and refuses to write on them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Protocol, TypeVar, cast

import psycopg
import psycopg._queries as psycopg_queries
from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import (
    CheckConstraint,
    Connection,
    DateTime,
    Engine,
    MetaData,
    PoolProxiedConnection,
    Select,
    String,
    event,
    exc,
    make_url,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, ORMExecuteState, Session, mapped_column
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.types import UserDefinedType

from app.core.ids import new_id

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
ObjectId = String(24, collation="C")
Timestamp = DateTime(timezone=True)
Parameters = Sequence[object] | Mapping[str, object]
Statement = str | ClauseElement
DriverRow = tuple[Any, ...]
DriverConnection = psycopg.Connection[DriverRow]
DriverCursor = psycopg.Cursor[DriverRow]
Result = TypeVar("Result")
Query = Callable[[DriverCursor], Result]
DIALECT = make_url("postgresql+psycopg://").get_dialect()()
IDLE = psycopg.pq.TransactionStatus.IDLE
OPERATIONAL_ERRORS = (psycopg.OperationalError, exc.OperationalError)
# psycopg parses a longer text again for each execution: a quarter of the CPU of a claim.
psycopg_queries.MAX_CACHED_STATEMENT_LENGTH = 16 * 1024
QUERY_CANCELED, SERIALIZATION_FAILURE = "57014", "40001"
# The client decides how fast an export is read. SET LOCAL, because a pooler would lend a session's settings to others.
EXPORT_TIMEOUTS = "SET LOCAL statement_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = '10min'"


class Base(DeclarativeBase):
    """The base class of all tables."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)


class Xid8(UserDefinedType[str]):
    """The 64-bit number of a transaction; PostgreSQL never uses one twice."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "xid8"


class ReadOrWriteSession(FlaskSession):
    """A session that reads on autocommitting connections and binds to `transaction_engine` during a transaction."""

    def get_bind(self, *args: Any, **kwargs: Any) -> Engine | Connection:
        engine = super().get_bind(*args, **kwargs)
        if self.info.get("writing") and isinstance(engine, Engine):
            return transaction_engine(engine)
        return engine

    def rollback(self) -> None:
        with self._ignore_lost_connection():
            super().rollback()

    def close(self) -> None:
        with self._ignore_lost_connection():
            super().close()

    @contextmanager
    def _ignore_lost_connection(self) -> Iterator[None]:
        """Ignore a connection that broke: PostgreSQL rolls its transaction back by itself.

        The statement that used the connection has raised already. The session closes after the response, so raising
        here would fail a request that was answered.
        """
        try:
            yield
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self.invalidate()


db = SQLAlchemy(
    model_class=Base,
    session_options={"class_": ReadOrWriteSession, "expire_on_commit": False, "autoflush": False},
)


class ReadReplica(Protocol):
    """A copy of the database that reads may go to; `app.core.replica` has the implementation."""

    @property
    def engine(self) -> Engine: ...
    def mark_unavailable(self) -> None: ...


_replica: ContextVar[ReadReplica | None] = ContextVar("replica", default=None)


def one_of(column: str, values: Iterable[str], *, name: str | None = None) -> CheckConstraint:
    """Return a constraint that the column has one of these values."""
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, values))})", name=name or column)


def id_column() -> Mapped[str]:
    """Return the primary key column of a table whose rows have an object id."""
    return mapped_column(ObjectId, primary_key=True, default=new_id)


def fetch_row(statement: Statement, parameters: Parameters, *, prepare: bool | None = None) -> DriverRow | None:
    """Return the first row of a statement, run by the driver: a third of the cost of a session's `execute`.

    Inside `transaction()` the statement is part of the transaction. Otherwise it borrows an autocommitting connection
    for this statement. If that connection is dead, the pool is emptied and the statement runs again.
    Raises psycopg.Error.
    """
    return _run(lambda cursor: cursor.execute(driver_sql(statement), parameters, prepare=prepare).fetchone())


def fetch_rows(statement: Statement, parameters: Parameters, *, prepare: bool | None = None) -> list[DriverRow]:
    """Return all rows of a statement, like `fetch_row`. `prepare=False` plans it for its parameters each time."""
    return _run(lambda cursor: cursor.execute(driver_sql(statement), parameters, prepare=prepare).fetchall())


def fetch_mapping(statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the first row of a Core select by column names, run like `fetch_row`.

    Build the statement once, because each new one is compiled. Its bind parameters need `required=False`. SQLAlchemy's
    types do not convert the results.
    """
    sql, constants, names = _compile_select(statement)
    row = fetch_row(sql, {**constants, **parameters})
    return dict(zip(names, row, strict=True)) if row is not None else None


@lru_cache(64)
def _compile_select(statement: Select[*tuple[object, ...]]) -> tuple[str, Mapping[str, object], tuple[str, ...]]:
    compiled = statement.compile(dialect=DIALECT, compile_kwargs={"render_postcompile": True})
    return str(compiled), compiled.params, tuple(statement.selected_columns.keys())


def database_now() -> datetime:
    """Return the database's time: inside a transaction, the time when the transaction began.

    Compare a client's time with this one; the clock of this process may be fast or slow.
    """
    row = fetch_row("SELECT now()", ())
    assert row is not None
    return cast(datetime, row[0])


def execute_autocommit(statement: Statement, parameters: Parameters) -> DriverRow | None:
    """Run a writing statement that commits by itself and return its first row.

    Call `app.core.transaction.write_row` instead, which checks that this is allowed. The statement is never repeated:
    if the connection breaks, the outcome is unknown.
    """
    with closing(db.engine.raw_connection()) as pooled:
        return _run_autocommitted(pooled, lambda cursor: cursor.execute(driver_sql(statement), parameters).fetchone())


@lru_cache(4096)
def driver_sql(statement: Statement) -> str:
    """Return the SQL text for the driver: Core statements compiled with named parameters, SQL text without indentation.

    This cache compares Core statements by identity: build each one once.
    """
    if not isinstance(statement, str):
        return str(statement.compile(dialect=DIALECT))
    return "\n".join(line.strip() for line in statement.splitlines())


def copy_out(statement: str, parameters: Mapping[str, object], *, block: int = 64 * 1024) -> Iterator[bytes]:
    """Yield the output of a `COPY … TO STDOUT` in blocks of about `block` bytes.

    It holds a connection until it is read or closed, for ten minutes at most. It may be read after the request ended.
    """
    return _copy_with_fallback(_replica.get(), db.engine, statement, parameters, block)


@contextmanager
def read_from(replica: ReadReplica) -> Iterator[None]:
    """Send the reads and copies inside the block to the replica; to the primary once the replica fails.

    Only `app.core.replica` and `app.core.replica` call this; domains mark reads with `@may_be_stale`.
    """
    token = _replica.set(replica)
    try:
        yield
    finally:
        _replica.reset(token)


def release_connection() -> None:
    """Return the reading connection to the pool before something slow; the next read takes another one."""
    db.session.close()


def _copy_with_fallback(
    replica: ReadReplica | None, engine: Engine, statement: str, parameters: Mapping[str, object], block: int
) -> Iterator[bytes]:
    has_started = False
    if replica is not None:
        try:
            for part in _copy_from(replica.engine, statement, parameters, block):
                has_started = True
                yield part
            return
        except OPERATIONAL_ERRORS as error:
            if has_started or not _can_retry_on_primary(replica, error):
                raise
    yield from _copy_from(engine, statement, parameters, block)


def _copy_from(engine: Engine, statement: str, parameters: Mapping[str, object], block: int) -> Iterator[bytes]:
    with closing(engine.raw_connection()) as pooled:
        try:
            connection = _driver_connection(pooled)
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(EXPORT_TIMEOUTS)
                with cursor.copy(statement, parameters) as copy:
                    yield from _join_blocks(copy, block)
        except BaseException:
            pooled.invalidate()
            raise


def _join_blocks(rows: Iterable[bytes | bytearray | memoryview], block: int) -> Iterator[bytes]:
    buffer = bytearray()
    for row in rows:
        buffer += row
        if len(buffer) >= block:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


def _run(query: Query[Result]) -> Result:
    replica = _replica.get()
    if replica is not None and not db.session().info.get("writing"):
        try:
            with closing(replica.engine.raw_connection()) as pooled:
                return _run_autocommitted(pooled, query)
        except OPERATIONAL_ERRORS as error:
            if not _can_retry_on_primary(replica, error):
                raise
            _replica.set(None)
    return _run_on_primary(query)


def _can_retry_on_primary(replica: ReadReplica, error: Exception) -> bool:
    """Whether the primary may run the statement after the replica failed; False when the statement took too long."""
    driver_error = getattr(error, "orig", error)
    state = getattr(driver_error, "sqlstate", None) or ""
    # A serialization failure means that the primary removed rows which the statement needs. The replica itself is well.
    if state not in (SERIALIZATION_FAILURE, QUERY_CANCELED):
        replica.mark_unavailable()
    return state != QUERY_CANCELED


def _run_on_primary(query: Query[Result]) -> Result:
    if db.session.registry.has() and (db.session().info.get("writing") or db.session().in_transaction()):
        return _run_in_session(db.session().connection(), query)
    pooled = db.engine.raw_connection()
    try:
        return _run_autocommitted(pooled, query)
    except psycopg.OperationalError:
        if pooled.driver_connection is not None:
            raise
        db.engine.dispose()
    finally:
        pooled.close()
    with closing(db.engine.raw_connection()) as new_connection:
        return _run_autocommitted(new_connection, query)


def _run_in_session(connection: Connection, query: Query[Result]) -> Result:
    try:
        return query(_cursor(connection.connection))
    except psycopg.OperationalError:
        # SQLAlchemy does not see what the driver raises, so it would put a broken connection back into the pool.
        if _driver_connection(connection.connection).closed:
            connection.invalidate()
        raise


def _run_autocommitted(pooled: PoolProxiedConnection, query: Query[Result]) -> Result:
    """Return the result of the query, run without a transaction around it."""
    connection = _driver_connection(pooled)
    try:
        if connection.closed:
            raise psycopg.OperationalError("the connection is closed")
        return query(_cursor(pooled))
    finally:
        # Otherwise the server has closed the connection or is about to: it must not be used again.
        if connection.info.transaction_status is not IDLE:
            pooled.invalidate()


def _driver_connection(pooled: PoolProxiedConnection) -> DriverConnection:
    return cast(DriverConnection, pooled.driver_connection)


def _cursor(pooled: PoolProxiedConnection) -> DriverCursor:
    """Return the cursor that is kept with a pooled connection."""
    cursor = pooled.info.get("cursor")
    if cursor is None:
        cursor = pooled.info["cursor"] = _driver_connection(pooled).cursor()
    return cast(DriverCursor, cursor)


class WriteOutsideTransaction(RuntimeError):
    """The code wrote on the reading connection: wrap the write in `with transaction():`."""


@cache
def transaction_engine(engine: Engine) -> Engine:
    """Return an engine with the same pool whose connections begin a transaction; those of the pool autocommit."""
    return engine.execution_options(isolation_level="READ COMMITTED")


@event.listens_for(Session, "before_flush")
def _refuse_flush_outside_transaction(session: Session, *_: object) -> None:
    if isinstance(session, ReadOrWriteSession) and not session.info.get("writing"):
        raise WriteOutsideTransaction("flush")


@event.listens_for(Session, "do_orm_execute")
def _refuse_write_outside_transaction(state: ORMExecuteState) -> None:
    if state.is_select or not isinstance(state.session, ReadOrWriteSession):
        return
    if (state.is_insert or state.is_update or state.is_delete) and not state.session.info.get("writing"):
        raise WriteOutsideTransaction(str(state.statement))
