"""The only place that commits.

    with transaction() as session:
        session.add(…)

An action is one such block. Blocks do not nest, so actions never call actions. A failure that must be stored, such as
a wrong code that counts, is written inside the block and raised after it.

Only a request with an idempotency key is wider: `request_transaction()` opens the transaction, the blocks of actions
join it as savepoints, and the response is stored before all of it commits together.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app.core.db import DriverRow, Parameters, ReadOrWriteSession, Statement, db, execute_autocommit, fetch_row


class NestedTransaction(RuntimeError):
    """The code opened a transaction inside another one: an action called an action."""


class TransactionOpen(RuntimeError):
    """The code was about to use the network while a transaction holds locks."""


@contextmanager
def transaction() -> Iterator[ReadOrWriteSession]:
    """Yield a session whose writes commit together when the block ends, and roll back when it raises."""
    session = _session()
    if session.info.get("held"):
        with _savepoint(session):
            yield session
        return
    _begin(session)
    try:
        yield session
        _commit(session)
    except BaseException:
        _rollback(session)
        raise


@contextmanager
def request_transaction() -> Iterator[ReadOrWriteSession]:
    """Open a transaction that `transaction()` blocks inside it join. Only idempotent requests need this."""
    session = _session()
    _begin(session)
    session.info["held"] = True
    try:
        yield session
        _commit(session)
    except BaseException:
        _rollback(session)
        raise
    finally:
        session.info.pop("held", None)


@contextmanager
def snapshot() -> Iterator[ReadOrWriteSession]:
    """Yield a session whose reads all see the same moment, for figures that are compared. It cannot write."""
    with transaction() as session:
        session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        yield session


def write_row(statement: Statement, parameters: Parameters) -> DriverRow | None:
    """Run one writing statement as its own transaction, without the cost of a session, and return its first row.

    In a request with an idempotency key it is a savepoint of the request's transaction. Raises NestedTransaction.
    """
    session = _session() if db.session.registry.has() else None
    if session is None or not session.info.get("writing"):
        if session is not None:
            session.close()
        return execute_autocommit(statement, parameters)
    if not session.info.get("held") or session.info.get("joined"):
        raise NestedTransaction("a statement that commits by itself was run inside a transaction")
    with _savepoint(session):
        return fetch_row(statement, parameters)


def lock_name(session: Session, name: str) -> None:
    """Hold this name until the transaction ends; others that lock it wait. It needs no row."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def after_commit(session: ReadOrWriteSession, call: Callable[[], None]) -> None:
    """Run `call` after the open transaction has committed; never when it rolls back."""
    session.info.setdefault("after_commit", []).append(call)


def assert_no_transaction() -> None:
    """Check that no transaction is open; clients call this before they use the network. Raises TransactionOpen."""
    if db.session.registry.has() and _session().info.get("writing"):
        raise TransactionOpen("no network inside a transaction")


def _session() -> ReadOrWriteSession:
    return cast(ReadOrWriteSession, db.session())


def _begin(session: ReadOrWriteSession) -> None:
    if session.info.get("writing"):
        raise NestedTransaction("transactions do not nest")
    session.close()
    session.info["writing"] = True
    session.info["after_commit"] = []


@contextmanager
def _savepoint(session: ReadOrWriteSession) -> Iterator[None]:
    if session.info.get("joined"):
        raise NestedTransaction("transactions do not nest")
    session.info["joined"] = True
    calls: list[Callable[[], None]] = session.info["after_commit"]
    call_count = len(calls)
    try:
        with session.begin_nested():
            yield
    except BaseException:
        del calls[call_count:]
        raise
    finally:
        session.info.pop("joined")


def _commit(session: ReadOrWriteSession) -> None:
    session.commit()
    calls = session.info.get("after_commit", [])
    _clear_state(session)
    for call in calls:
        call()


def _rollback(session: ReadOrWriteSession) -> None:
    session.rollback()
    session.close()
    _clear_state(session)


def _clear_state(session: ReadOrWriteSession) -> None:
    for name in ("writing", "after_commit"):
        session.info.pop(name, None)
