"""The only place that commits.

    with transaction() as session:
        session.add(…)

An action is one such block. It does not nest, so actions never call actions. A failure that must be
remembered (a wrong code counts) is written inside the block and raised after it.

A request with an idempotency key is the one wider unit: `held_commit()` opens the transaction, the
action's blocks join it as savepoints, each kept or undone by itself, and the answer is stored before
everything commits together.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from app.core.db import Parameters, Statement, db, execute_autocommit, fetch_row
from app.core.session import ReadOrWriteSession


class NestedTransaction(RuntimeError):
    """A transaction was opened inside another: an action called an action."""


class TransactionOpen(RuntimeError):
    """The network was about to be used while a transaction holds locks."""


@contextmanager
def transaction() -> Iterator[ReadOrWriteSession]:
    """A session whose writes commit together when the block ends, and vanish together when it raises."""
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
    """Like `transaction()`, but blocks opened inside join it. Only the idempotency of requests needs this."""
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


def write_row(statement: Statement, parameters: Parameters) -> tuple[Any, ...] | None:
    """The row that a single writing statement gives: it is a transaction by itself, without the price of one.

    In a request with an idempotency key it joins what commits there. Raises NestedTransaction.
    """
    session = _session()
    if not session.info.get("writing"):
        session.close()
        return execute_autocommit(statement, parameters)
    if not session.info.get("held") or session.info.get("joined"):
        raise NestedTransaction("a statement that commits by itself was run inside a transaction")
    return fetch_row(statement, parameters)


def after_commit(session: ReadOrWriteSession, call: Callable[[], None]) -> None:
    """Runs `call` once the open transaction has committed; never when it does not."""
    session.info.setdefault("after_commit", []).append(call)


def assert_no_transaction() -> None:
    """Clients call this before they touch the network. Raises TransactionOpen."""
    if _session().info.get("writing"):
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
    already = len(calls)
    try:
        with session.begin_nested():
            yield
    except BaseException:
        del calls[already:]
        raise
    finally:
        session.info.pop("joined")


def _commit(session: ReadOrWriteSession) -> None:
    session.commit()
    calls = session.info.get("after_commit", [])
    _end(session)
    for call in calls:
        call()


def _rollback(session: ReadOrWriteSession) -> None:
    session.rollback()
    session.close()
    _end(session)


def _end(session: ReadOrWriteSession) -> None:
    for name in ("writing", "after_commit"):
        session.info.pop(name, None)
