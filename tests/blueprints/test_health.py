"""Liveness and readiness."""

from time import perf_counter

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.version import __version__
from tests.http import Client, data
from tests.settings import app_for
from tests.timing import assert_in_time


@pytest.fixture
def fresh(app: Flask) -> Client:
    """A client of an application that has not looked yet."""
    ours = app.extensions["settings"]
    return Client(app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL).test_client())


def test_health_touches_nothing(client: Client) -> None:
    with db.engine.connect() as connection:
        count = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        before = connection.scalar(count)
        for _ in range(100):
            assert data(client.get("/health")) == {"ok": True, "version": __version__}
        assert connection.scalar(count) == before


def test_ready_says_what_it_found(fresh: Client) -> None:
    assert data(fresh.get("/ready")) == {
        "ready": True,
        "database": "up",
        "migrations": "current",
        "payrail": "mock",
        "redis": "up",
        "relay": "down",
        "workers": 0,
    }


def test_ready_counts_processes_with_a_heartbeat(fresh: Client) -> None:
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO heartbeat (name, at) VALUES ('relay', now()), ('worker:a:1', now()), "
                "('worker:a:2', now()), "
                "('worker:gone:3', now() - interval '2 minutes')"
            )
        )
    found = data(fresh.get("/ready"))
    assert (found["relay"], found["workers"]) == ("up", 2)


def test_a_pending_migration_is_not_ready(fresh: Client) -> None:
    with transaction() as session:
        version = session.execute(text("UPDATE alembic_version SET version_num = 'older' RETURNING version_num"))
        assert version.scalar() == "older"
    try:
        response = fresh.get("/ready")
    finally:
        from app.core.migrations import head

        with transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": head()})
    assert response.status_code == 503 and response.get_json()["shortMessage"] == "NOT_READY"
    assert response.get_json()["data"]["migrations"] == "pending"


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/nothing", "postgresql://nobody@10.255.255.1/nothing"])
def test_without_a_database_it_is_not_ready_within_two_seconds(app: Flask, url: str) -> None:
    client = Client(app_for(database_url=url, redis_url=app.extensions["settings"].REDIS_URL).test_client())
    for _ in range(2):
        started = perf_counter()
        response = client.get("/ready")
        assert_in_time(perf_counter() - started < 2)
        assert response.status_code == 503 and response.headers["Retry-After"] == "2"
        assert response.get_json()["data"]["database"] == "down"
    assert data(client.get("/health")) == {"ok": True, "version": __version__}


def test_without_redis_it_is_ready_all_the_same(app: Flask) -> None:
    url = app.extensions["settings"].DATABASE_URL
    client = Client(app_for(database_url=url, redis_url="redis://127.0.0.1:1/0").test_client())
    found = data(client.get("/ready"))
    assert found["ready"] is True and found["redis"] == "down"


def test_a_flood_of_probes_asks_the_database_once_a_second(fresh: Client) -> None:
    started = perf_counter()
    for _ in range(200):
        fresh.get("/ready")
    assert_in_time(perf_counter() - started < 1.5)
