"""`flask doctor`: database, Redis and work, each broken in turn, and the sentence that says so."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from sqlalchemy import text

from app.config import Settings
from app.core import migrations
from app.core.db import db, transaction_engine
from app.core.outbox import heartbeat
from app.doctor import database_checks, worker_checks
from app.doctor.results import FAIL, OK, WARN
from tests.factories.outbox import add_job as row
from tests.observing.ward import found

# The database


def test_a_sound_database_is_ok(settings: Settings) -> None:
    assert "answers in" in found(database_checks, settings, "database", OK)
    assert "The schema is up to date" in found(database_checks, settings, "schema", OK)
    assert "ms from the database's" in found(database_checks, settings, "clock", OK)


def test_a_database_that_is_away(settings: Settings, closed_port: int) -> None:
    away = f"postgresql://someone:canary-password@127.0.0.1:{closed_port}/none"
    told = found(database_checks, replace(settings, DATABASE_URL=away), "database", FAIL)
    assert f"127.0.0.1:{closed_port} does not answer" in told
    assert "canary" not in told


def test_a_slow_database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_checks, "SLOW_ROUND_TRIP_MS", 0.0)
    assert "An empty query" in found(database_checks, settings, "database", WARN)


@pytest.mark.parametrize(
    ("version", "says", "does"),
    [
        # Not `db upgrade`: other nodes may still run the previous version.
        ("0001", f"The database is at 0001, this version needs {migrations.expanded()}.", "db expand"),
        ("9999", "a newer version migrated it", "Install the newer version"),
    ],
)
def test_migrations_that_do_not_fit(settings: Settings, version: str, says: str, does: str) -> None:
    with transaction_engine(db.engine).begin() as connection:
        before = connection.scalar(text("SELECT version_num FROM alembic_version"))
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    try:
        assert says in found(database_checks, settings, "schema", FAIL)
        assert [does in item.do for item in database_checks.run_checks(settings) if item.about == "schema"] == [True]
    finally:
        with transaction_engine(db.engine).begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": before})


@pytest.mark.parametrize(("seconds", "state"), [(2.5, WARN), (60.0, FAIL), (-60.0, FAIL)])
def test_clocks_that_are_apart(settings: Settings, seconds: float, state: str) -> None:
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds)):
        told = found(database_checks, settings, "clock", state)
    apart = re.search(r"are ([+-][\d.]+) s apart", told)
    assert apart and abs(float(apart[1]) + seconds) < 1.4


def test_a_replica_that_is_none(settings: Settings) -> None:
    itself = replace(settings, DATABASE_REPLICA_URL=settings.DATABASE_URL)
    assert "is no standby" in found(database_checks, itself, "replica", WARN)


def test_a_replica_that_is_away(settings: Settings, closed_port: int) -> None:
    away = replace(settings, DATABASE_REPLICA_URL=f"postgresql://x@127.0.0.1:{closed_port}/x")
    assert "does not answer" in found(database_checks, away, "replica", WARN)


# Redis


def test_redis_away(settings: Settings, closed_port: int) -> None:
    away = replace(settings, REDIS_URL=f"redis://:canary-password@127.0.0.1:{closed_port}/0")
    told = found(database_checks, away, "redis", FAIL)
    assert "does not answer" in told and "canary" not in told


@pytest.mark.parametrize(
    ("about", "state", "says"),
    [
        ({"redis_version": "5.0.14"}, FAIL, "too old"),
        ({"maxmemory_policy": "allkeys-lru"}, FAIL, "silently drops wakeups"),
        ({"maxmemory": 100, "used_memory": 90}, WARN, "90 % of its memory"),
        ({"aof_enabled": 0, "rdb_last_save_time": 0}, WARN, "keeps nothing"),
    ],
)
def test_a_redis_that_is_not_fit(about: dict[str, Any], state: str, says: str) -> None:
    sound = {"redis_version": "7.2.1", "maxmemory_policy": "noeviction", "aof_enabled": 1}
    assert list(database_checks.check_redis_info(sound)) == []
    (told,) = database_checks.check_redis_info({**sound, **about})
    assert (told.state, says in told.says) == (state, True)


# Work


def test_nobody_works(settings: Settings) -> None:
    assert "Its last heartbeat was never" in found(worker_checks, settings, "relay", FAIL)
    assert "No worker is alive" in found(worker_checks, settings, "workers", FAIL)


def test_everybody_works(settings: Settings) -> None:
    heartbeat.record_heartbeat(heartbeat.RELAY)
    heartbeat.record_heartbeat("worker:a:1")
    assert {finding.state for finding in worker_checks.run_checks(settings)} == {OK}


def test_a_relay_that_has_stopped(settings: Settings) -> None:
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("INSERT INTO heartbeat VALUES ('relay', now() - interval '90 s')"))
    assert "Its last heartbeat was 90 s ago" in found(worker_checks, settings, "relay", FAIL)


@pytest.mark.parametrize(("ago", "state", "says"), [(90, WARN, "for 90 s"), (900, FAIL, "for 15 minutes")])
def test_work_that_waits(settings: Settings, ago: int, state: str, says: str) -> None:
    row("ready", timedelta(seconds=ago))
    assert says in found(worker_checks, settings, "queue", state)


@pytest.mark.parametrize("state", ["dead", "uncertain"])
def test_work_that_ended_badly(settings: Settings, state: str) -> None:
    row(state, timedelta(hours=1))
    assert f"1 jobs are {state}" in found(worker_checks, settings, "queue", WARN)
