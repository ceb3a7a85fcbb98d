"""Many requests of one browser at the same moment, and sessions that end or begin between them."""

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import queries
from app.accounts.sessions import SessionOrigin, build_page_token, create_session
from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.http import Client
from tests.races import run_concurrently

BROWSER = SessionOrigin("console")
COUNT_WRITES = """
    CREATE TABLE session_write (at timestamptz);
    CREATE FUNCTION record_session_write() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO session_write VALUES (now()); RETURN NEW; END $$;
    CREATE TRIGGER record_session_write AFTER UPDATE ON account_session
        FOR EACH ROW EXECUTE FUNCTION record_session_write();
"""
FORGET_WRITES = """
    DROP TRIGGER record_session_write ON account_session; DROP FUNCTION record_session_write; DROP TABLE session_write;
"""


@pytest.fixture
def token(app: Flask) -> str:
    """The cookie of a session whose use is due to be recorded."""
    owner = create_customer()
    with transaction() as session:
        session_id = create_session(session, owner, BROWSER).session_id
        session.execute(text("UPDATE account_session SET created_at = now() - interval '1 hour'"))
    return build_page_token(session_id)


@pytest.fixture
def recorded_writes(token: str) -> Iterator[None]:
    with transaction() as session:
        session.execute(text(COUNT_WRITES))
    yield
    with transaction() as session:
        session.execute(text(FORGET_WRITES))


def open_account(app: Flask, token: str) -> int:
    browser = app.test_client()
    browser.set_cookie("sign-in", token)
    return browser.get("/account").status_code


def count_writes() -> int:
    return int(db.session.scalar(text("SELECT count(*) FROM session_write")) or 0)


@pytest.mark.usefixtures("recorded_writes")
def test_of_32_concurrent_requests_one_records_the_use(app: Flask, token: str) -> None:
    assert run_concurrently(32, lambda _: open_account(app, token)) == [200] * 32
    assert count_writes() == 1


@pytest.mark.control
@pytest.mark.usefixtures("recorded_writes")
def test_without_the_condition_every_request_would_write(
    app: Flask, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    condition = "AND coalesce(last_seen_at, created_at) <= now() - %(interval)s"
    assert condition in queries.PAGE_CALLER_SQL
    monkeypatch.setattr(
        queries, "PAGE_CALLER_SQL", queries.PAGE_CALLER_SQL.replace(condition, "AND %(interval)s IS NOT NULL")
    )
    run_concurrently(8, lambda _: open_account(app, token))
    assert count_writes() > 1


def test_ending_others_while_they_are_used_leaves_none_active(client: Client, app: Flask, token: str) -> None:
    owner_id = db.session.scalar(text("SELECT account_id FROM account_session"))
    owner = queries.find_account(str(owner_id))
    assert owner is not None
    asking = create_signed_in_client(client, owner)

    def act(number: int) -> int:
        if number % 2:
            return open_account(app, token)
        return asking.delete("/api/auth/sessions/others").status_code

    assert set(run_concurrently(16, act)) <= {200, 303}
    assert open_account(app, token) == 303
    assert asking.get("/api/auth/me").status_code == 200
