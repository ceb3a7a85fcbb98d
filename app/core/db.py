"""The database session: reads run without a transaction, writes only inside `transaction()`.

A single SELECT needs no BEGIN and ROLLBACK around it; leaving them out is a fifth of the rate (see
docs/decisions/reads-without-transactions.md). The session therefore reads on autocommitting connections
and refuses to write on them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flask_sqlalchemy import SQLAlchemy
from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import Connection, Engine, MetaData, String, event
from sqlalchemy.orm import DeclarativeBase, Mapped, ORMExecuteState, mapped_column
from sqlalchemy.orm import Session as OrmSession

from app.core.ids import new_id

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
ObjectId = String(24, collation="C")


class WriteOutsideTransaction(RuntimeError):
    """A write was tried on the reading connection: wrap it in `with transaction():`."""


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)


class ReadOrWriteSession(FlaskSession):
    """Binds to the autocommitting engine for reads, and to the plain one while a transaction is open."""

    def get_bind(self, *args: Any, **kwargs: Any) -> Engine | Connection:
        engine = super().get_bind(*args, **kwargs)
        if self.info.get("writing") or not isinstance(engine, Engine):
            return engine
        return reading(engine)


_reading: dict[Engine, Engine] = {}


def reading(engine: Engine) -> Engine:
    """The same pool, on connections that commit each statement by themselves."""
    if engine not in _reading:
        _reading[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")
    return _reading[engine]


@event.listens_for(OrmSession, "before_flush")
def _flush_needs_a_transaction(session: OrmSession, *_: Any) -> None:
    if isinstance(session, ReadOrWriteSession) and not session.info.get("writing"):
        raise WriteOutsideTransaction("flush")


@event.listens_for(OrmSession, "do_orm_execute")
def _statement_needs_a_transaction(state: ORMExecuteState) -> None:
    if state.is_select or not isinstance(state.session, ReadOrWriteSession):
        return
    if (state.is_insert or state.is_update or state.is_delete) and not state.session.info.get("writing"):
        raise WriteOutsideTransaction(str(state.statement))


db = SQLAlchemy(
    model_class=Base,
    session_options={"class_": ReadOrWriteSession, "expire_on_commit": False, "autoflush": False},
)


def id_column() -> Mapped[str]:
    """The primary key every table of named things has."""
    return mapped_column(ObjectId, primary_key=True, default=new_id)


def fetch_row(statement: str, parameters: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a hand-written SELECT, by the driver itself: for the one query that every request makes.

    SQLAlchemy's compiled core costs three times as much for a single row.
    """
    connection = db.session().connection().connection.driver_connection
    assert connection is not None
    row: tuple[Any, ...] | None = connection.execute(statement, parameters).fetchone()
    return row


def release() -> None:
    """Gives the reading connection back to the pool before something slow; the next read takes another."""
    db.session.close()


def fetch_rows(
    statement: str, parameters: Sequence[Any] | Mapping[str, Any], *, prepare: bool | None = None
) -> list[tuple[Any, ...]]:
    """All rows of a hand-written SELECT, by the driver itself: for public reads, where every microsecond is paid
    by everybody. `prepare=False` has it planned for its very parameters each time."""
    connection = db.session().connection().connection.driver_connection
    assert connection is not None
    rows: list[tuple[Any, ...]] = connection.execute(statement, parameters, prepare=prepare).fetchall()
    return rows
