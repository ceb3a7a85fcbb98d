"""The session: reads run without a transaction, writes only inside `transaction()`.

A single SELECT needs no BEGIN and ROLLBACK; leaving them out gains a fifth of the request rate
(docs/decisions/autocommit-reads.md). So the session reads on autocommitting connections and refuses to write on them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import ORMExecuteState, Session


class WriteOutsideTransaction(RuntimeError):
    """The code wrote on the reading connection: wrap the write in `with transaction():`."""


class ReadOrWriteSession(FlaskSession):
    """A session that binds to the autocommitting engine for reads and to the plain one during a transaction."""

    def get_bind(self, *args: Any, **kwargs: Any) -> Engine | Connection:
        engine = super().get_bind(*args, **kwargs)
        if self.info.get("writing") or not isinstance(engine, Engine):
            return engine
        return autocommit_engine(engine)

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


_autocommit_engines: dict[Engine, Engine] = {}


def autocommit_engine(engine: Engine) -> Engine:
    """Return an engine with the same pool whose connections commit each statement."""
    if engine not in _autocommit_engines:
        _autocommit_engines[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")
    return _autocommit_engines[engine]


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
