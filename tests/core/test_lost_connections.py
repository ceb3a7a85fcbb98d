"""A connection that breaks under a session is told once, to anyone who asked; to put it away is no second failure."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import OPERATIONAL_ERRORS, db, fetch_row
from app.core.transaction import request_transaction, transaction, write_row

OURS = "SELECT pg_backend_pid()"
ENDED = text("SELECT pg_terminate_backend(:pid, 5000)")


def end(pid: int) -> None:
    with db.engine.connect() as other:
        other.execute(ENDED, {"pid": pid})


def in_a_transaction() -> None:
    with transaction() as session:
        end(session.scalar(text(OURS)) or 0)
        fetch_row(OURS, {})


def beside_a_key() -> None:
    with request_transaction():
        found = write_row(OURS, {})
        assert found
        end(found[0])
        write_row(OURS, {})


def while_reading() -> None:
    end(db.session.scalar(text(OURS)) or 0)
    fetch_row(OURS, {})


def with_another_reason() -> None:
    with transaction() as session:
        end(session.scalar(text(OURS)) or 0)
        raise LookupError("something else")


@pytest.mark.parametrize("broken", [in_a_transaction, beside_a_key, while_reading])
def test_a_lost_connection_does_not_affect_the_next_request(application: Flask, broken: Callable[[], None]) -> None:
    with application.app_context(), pytest.raises(OPERATIONAL_ERRORS):
        broken()
    for _ in range(3):
        with application.app_context(), transaction() as session:
            assert session.scalar(text("SELECT 1")) == 1


@pytest.mark.parametrize("broken", [in_a_transaction, beside_a_key, while_reading])
def test_the_same_context_can_continue_after_a_lost_connection(application: Flask, broken: Callable[[], None]) -> None:
    with application.app_context():
        with pytest.raises(OPERATIONAL_ERRORS):
            broken()
        with transaction() as session:
            assert session.scalar(text("SELECT 1")) == 1


def test_the_first_error_is_raised(application: Flask) -> None:
    with application.app_context(), pytest.raises(LookupError):
        with_another_reason()
