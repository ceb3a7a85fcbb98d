"""Statements that the driver runs without a session."""

from flask import Flask
from psycopg._queries import _query2pg
from sqlalchemy import bindparam, select

from app.accounts.models import Account
from app.core.db import fetch_mapping, fetch_row
from tests.factories.accounts import create_account


def test_a_long_statement_is_parsed_once(app: Flask) -> None:
    """Without our limit psycopg parses a text of more than 4 KB for each execution."""
    statement = f"SELECT %(value)s::int -- {'x' * 12_000}"
    assert fetch_row(statement, {"value": 1}) == (1,)
    before = _query2pg.cache_info()
    assert fetch_row(statement, {"value": 2}) == (2,)
    after = _query2pg.cache_info()
    assert (after.hits, after.misses) == (before.hits + 1, before.misses)


def test_a_core_select_returns_a_row_by_column_names(app: Flask) -> None:
    account = create_account("customer", email="a@example.com", name="A")
    email = bindparam("email_param", required=False)
    statement = select(Account.id, (Account.name.in_(("A", "B"))).label("known")).where(Account.email == email)
    assert fetch_mapping(statement, {"email_param": "a@example.com"}) == {"id": account.id, "known": True}
    assert fetch_mapping(statement, {"email_param": "b@example.com"}) is None
