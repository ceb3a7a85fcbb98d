"""The one place that commits: all or nothing, never nested, joined only by the idempotency of a request."""

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, text

from app.core.db import WriteOutsideTransaction, db
from app.core.throttle import Throttle
from app.core.transaction import (
    NestedTransaction,
    TransactionOpen,
    after_commit,
    assert_no_transaction,
    request_transaction,
    transaction,
    write_row,
)

mark = Table("core_mark", MetaData(), Column("number", Integer, primary_key=True))


@pytest.fixture(autouse=True)
def table(app: Flask) -> Iterator[None]:
    mark.metadata.create_all(db.engine)
    yield
    db.session.remove()
    mark.metadata.drop_all(db.engine)


def put(number: int) -> None:
    """What an action does."""
    with transaction() as session:
        session.execute(insert(mark).values(number=number))


def there() -> list[int]:
    """What somebody else sees."""
    with db.engine.connect() as connection:
        return list(connection.scalars(select(mark.c.number).order_by(mark.c.number)))


class Refused(Exception):
    pass


def test_a_block_commits_at_its_end_and_not_before() -> None:
    with transaction() as session:
        session.execute(insert(mark).values(number=1))
        assert there() == []
    assert there() == [1]


@pytest.mark.parametrize("error", [Refused, KeyboardInterrupt, SystemExit])
def test_a_block_that_raises_leaves_nothing(error: type[BaseException]) -> None:
    with pytest.raises(error), transaction() as session:
        session.execute(insert(mark).values(number=1))
        raise error
    assert there() == []
    put(2)
    assert there() == [2]


def test_nested_blocks_are_refused_and_both_roll_back() -> None:
    with pytest.raises(NestedTransaction), transaction():
        put(1)
    assert there() == []
    put(2)
    assert there() == [2]


def test_nothing_is_written_outside_a_block() -> None:
    with pytest.raises(WriteOutsideTransaction):
        db.session.execute(insert(mark).values(number=1))
    db.session.add(Throttle(key="x", hits=1))
    with pytest.raises(WriteOutsideTransaction):
        db.session.flush()
    db.session.rollback()
    assert there() == []


def test_what_waits_for_the_commit_runs_after_it_and_only_then() -> None:
    seen: list[list[int]] = []
    with transaction() as session:
        session.execute(insert(mark).values(number=1))
        after_commit(session, lambda: seen.append(there()))
        assert seen == []
    assert seen == [[1]]
    with pytest.raises(Refused), transaction() as session:
        after_commit(session, lambda: seen.append([]))
        raise Refused
    put(2)
    assert seen == [[1]]


def test_what_runs_after_the_commit_may_open_a_block() -> None:
    with transaction() as session:
        after_commit(session, lambda: put(2))
        session.execute(insert(mark).values(number=1))
    assert there() == [1, 2]


def test_no_network_inside_a_block() -> None:
    assert_no_transaction()
    with transaction(), pytest.raises(TransactionOpen):
        assert_no_transaction()
    with request_transaction(), pytest.raises(TransactionOpen):
        assert_no_transaction()
    assert_no_transaction()


def test_a_held_commit_takes_several_blocks_as_one() -> None:
    with request_transaction():
        put(1)
        put(2)
        assert there() == []
    assert there() == [1, 2]


def test_a_held_block_that_raises_rolls_back_alone() -> None:
    seen: list[int] = []
    with request_transaction():
        put(1)
        with pytest.raises(Refused), transaction() as session:
            session.execute(insert(mark).values(number=2))
            after_commit(session, lambda: seen.append(2))
            raise Refused
        with transaction() as session:
            after_commit(session, lambda: seen.append(3))
            session.execute(insert(mark).values(number=3))
    assert there() == [1, 3] and seen == [3]


def test_a_held_block_that_the_database_refuses_does_not_end_the_transaction() -> None:
    from sqlalchemy.exc import IntegrityError

    with request_transaction():
        put(1)
        with pytest.raises(IntegrityError):
            put(1)
        put(2)
    assert there() == [1, 2]


def test_a_held_commit_that_raises_leaves_nothing() -> None:
    with pytest.raises(Refused), request_transaction():
        put(1)
        raise Refused
    assert there() == []


def test_held_blocks_do_not_nest_either() -> None:
    with pytest.raises(NestedTransaction), request_transaction(), transaction():
        put(1)
    with pytest.raises(NestedTransaction), request_transaction(), request_transaction():
        put(2)
    assert there() == []
    put(3)
    assert there() == [3]


def test_reads_run_without_a_transaction() -> None:
    db.session.execute(text("SELECT 1"))
    with db.engine.connect() as other:
        states = other.scalars(
            text("SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
        )
        assert "idle in transaction" not in set(states)


PUT = "INSERT INTO core_mark (number) VALUES (%s) RETURNING number"


def test_a_statement_alone_is_its_own_transaction() -> None:
    assert write_row(PUT, (7,)) == (7,) and there() == [7]


def test_a_statement_alone_joins_what_an_idempotency_key_holds() -> None:
    with pytest.raises(ZeroDivisionError), request_transaction():
        write_row(PUT, (8,))
        assert there() == []
        raise ZeroDivisionError
    assert there() == []


def test_a_statement_alone_does_not_nest() -> None:
    with pytest.raises(NestedTransaction), transaction():
        write_row(PUT, (9,))
    assert there() == []
