"""A database that is down, busy or restarted: 503 with Retry-After and without internals, then normal service."""

from threading import Event, Thread
from time import perf_counter

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from app.version import __version__
from tests.factories.accounts import create_customer, create_signed_in_client, sign_in
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.timing import assert_in_time
from tests.web import shop
from tests.web.conftest import Served
from tests.web.test_envelope import checked

AWAY = ["postgresql://nobody@127.0.0.1:1/nothing", "postgresql:///nothing?host=/nonexistent"]


def unavailable(response: TestResponse) -> str:
    body = checked(response)
    assert response.status_code == 503 and int(response.headers["Retry-After"]) >= 1
    return str(body["shortMessage"])


@pytest.mark.parametrize("url", AWAY)
def test_without_a_database_its_routes_respond_503_immediately(client: Client, served: Served, url: str) -> None:
    token = sign_in(client, create_customer().email)["accessToken"]
    alone = served(database_url=url)
    started = perf_counter()
    assert unavailable(alone.get("/t/slow")) == "DATABASE_UNAVAILABLE"
    assert unavailable(alone.as_(token).get("/api/auth/me")) == "DATABASE_UNAVAILABLE"
    assert unavailable(alone.post("/t/items", {"name": "x"}, headers={"Idempotency-Key": "key-012345"}))
    assert unavailable(alone.post("/api/auth/login", {"email": "a@b.na", "password": "x"})) == "DATABASE_UNAVAILABLE"
    assert unavailable(alone.get("/ready")) == "NOT_READY"
    assert (
        data(alone.get("/health")) == {"ok": True, "version": __version__} and alone.get("/nowhere").status_code == 404
    )
    assert read_error(alone.post("/t/items", {})) == (422, "VALIDATION_FAILED")
    assert_in_time(perf_counter() - started < 3)


def test_a_full_pool_is_503_after_two_seconds(served: Served) -> None:
    narrow = served(DATABASE_POOL="1")
    taken, done = Event(), Event()

    def hold() -> None:
        with narrow.flask.application.app_context():
            db.session.execute(text("SELECT 1"))
            taken.set()
            done.wait(90)

    holder = Thread(target=hold)
    holder.start()
    taken.wait(90)
    started = perf_counter()
    assert unavailable(narrow.get("/t/slow")) == "BUSY"
    assert_in_time(1.5 < perf_counter() - started < 3.5)
    done.set()
    holder.join()
    assert data(narrow.get("/t/slow")) == {"count": 0}


@pytest.fixture
def cuttable(app: Flask, served: Served) -> Client:
    """The shop with a pool of connections that the other application can cut."""
    url = app.extensions["settings"].DATABASE_URL
    return served(database_url=url + ("&" if "?" in url else "?") + "application_name=cut%20me")


def cut(cuttable: Client) -> None:
    """Fills the pool with four connections, then does to them what a restart of the server does."""
    run_concurrently(4, lambda _: Client(cuttable.flask.application.test_client()).get("/t/slow"))
    with transaction() as session:
        session.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut me'")
        )


def test_signed_in_callers_do_not_notice_a_restart(cuttable: Client) -> None:
    me = create_signed_in_client(cuttable, create_customer())
    for _ in range(3):
        cut(cuttable)
        assert me.get("/api/auth/me").status_code == 200
        assert me.get("/t/slow").status_code == 200, "one query found out for the whole pool"


def test_after_a_restart_one_response_is_503_and_the_next_succeeds(cuttable: Client) -> None:
    cut(cuttable)
    assert unavailable(cuttable.get("/t/slow")) == "DATABASE_UNAVAILABLE"
    assert data(cuttable.get("/t/slow")) == {"count": 0}
    cut(cuttable)
    assert unavailable(cuttable.post("/t/items", {"name": "x"})) == "DATABASE_UNAVAILABLE"
    data(cuttable.post("/t/items", {"name": "x"}), 201)
    assert shop.count() == 1


def test_lock_timeout_is_503_with_retry_after(client: Client) -> None:
    with transaction_engine(db.engine).connect() as other:
        other.execute(text("LOCK TABLE shop_item IN ACCESS EXCLUSIVE MODE"))
        started = perf_counter()
        assert unavailable(client.get("/t/slow")) == "BUSY"
        assert_in_time(perf_counter() - started < 4)
        other.rollback()
    assert data(client.get("/t/slow")) == {"count": 0}
