"""The session: reads run without a transaction, writes only inside `transaction()`.

A single SELECT needs no BEGIN and ROLLBACK around it; leaving them out is a fifth of the rate (see
docs/decisions/autocommit-reads.md). The session therefore reads on autocommitting connections
and refuses to write on them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask_sqlalchemy.session import Session as FlaskSession
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import ORMExecuteState, Session


class WriteOutsideTransaction(RuntimeError):
    """A write was tried on the reading connection: wrap it in `with transaction():`."""


class ReadOrWriteSession(FlaskSession):
    """Binds to the autocommitting engine for reads, and to the plain one while a transaction is open."""

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
        """PostgreSQL undoes what a connection that breaks had begun; there is nothing left to ask it for.

        Anyone who used the connection was told. To fail here again would be to fail after the answer: a session is
        closed when the request is over.
        """
        try:
            yield
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self.invalidate()


_autocommit_engines: dict[Engine, Engine] = {}


def autocommit_engine(engine: Engine) -> Engine:
    """The same pool, on connections that commit each statement by themselves."""
    if engine not in _autocommit_engines:
        _autocommit_engines[engine] = engine.execution_options(isolation_level="AUTOCOMMIT")
    return _autocommit_engines[engine]


@event.listens_for(Session, "before_flush")
def _flush_needs_a_transaction(session: Session, *_: Any) -> None:
    if isinstance(session, ReadOrWriteSession) and not session.info.get("writing"):
        raise WriteOutsideTransaction("flush")


@event.listens_for(Session, "do_orm_execute")
def _statement_needs_a_transaction(state: ORMExecuteState) -> None:
    if state.is_select or not isinstance(state.session, ReadOrWriteSession):
        return
    if (state.is_insert or state.is_update or state.is_delete) and not state.session.info.get("writing"):
        raise WriteOutsideTransaction(str(state.statement))
