"""The readiness check. It uses a separate database connection, so a full pool does not fail it."""

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import dataclass, field
from threading import Lock
from typing import NotRequired, TypedDict

import psycopg
from flask import current_app
from redis.exceptions import RedisError

from app.clients.payrail import rail
from app.config import Settings
from app.core import migrations
from app.core.connections import dedicated_connection
from app.core.errors import Unavailable
from app.core.redis import connected

CHECK_SECONDS = 1.0
HEARTBEAT_SECONDS = 45.0
STATE_SQL = """
    SELECT (SELECT string_agg(version_num, ',' ORDER BY version_num) FROM alembic_version),
           coalesce((SELECT bool_or(at > now() - make_interval(secs => %(max_age)s)) FROM heartbeat
                      WHERE name = 'relay'), false),
           (SELECT count(*) FROM heartbeat
             WHERE name LIKE 'worker:%%' AND at > now() - make_interval(secs => %(max_age)s))
"""


class NotReady(Unavailable):
    number, code = 50303, "NOT_READY"
    message = "The service is not ready; data says what is missing."


class DatabaseReport(TypedDict):
    """The state of the database, and of the processes with a heartbeat in it."""

    database: str
    migrations: str
    relay: str
    workers: int


class ReadinessReport(DatabaseReport):
    """The data of `/ready`. `payrail_link` is present in live mode only."""

    ready: bool
    payrail: str
    payrail_link: NotRequired[str]
    redis: str


@dataclass
class Probe:
    """The last report, and the thread that builds the next one."""

    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "ready"))
    lock: Lock = field(default_factory=Lock)
    checked_at: float = float("-inf")
    last_report: ReadinessReport | None = None


def require_ready() -> ReadinessReport:
    """Return the report, at most one second old. Raises NotReady with the same report."""
    settings: Settings = current_app.extensions["settings"]
    probe: Probe = current_app.extensions.setdefault("readiness", Probe())
    with probe.lock:
        if probe.last_report is None or time.monotonic() - probe.checked_at > CHECK_SECONDS:
            probe.last_report, probe.checked_at = _build_report(probe, settings), time.monotonic()
        readiness_report = probe.last_report
    if not readiness_report["ready"]:
        raise NotReady(retry_after=2, **readiness_report)
    return readiness_report


def _build_report(probe: Probe, settings: Settings) -> ReadinessReport:
    database: DatabaseReport
    try:
        database = probe.executor.submit(_check_database, settings.DATABASE_URL).result(CHECK_SECONDS)
    except (psycopg.Error, OSError, TooSlow):
        database = {"database": "down", "migrations": "unknown", "relay": "down", "workers": 0}
    report: ReadinessReport = {
        "ready": database["database"] == "up" and database["migrations"] == "current",
        "database": database["database"],
        "migrations": database["migrations"],
        "relay": database["relay"],
        "workers": database["workers"],
        "payrail": settings.PAYRAIL_MODE,
        "redis": _check_redis(settings.REDIS_URL),
    }
    if settings.PAYRAIL_MODE == "live":
        is_rail_reachable = rail().reachable()
        report["payrail_link"] = "up" if is_rail_reachable else "down"
        report["ready"] = report["ready"] and is_rail_reachable
    return report


def _check_database(url: str) -> DatabaseReport:
    with dedicated_connection(url, seconds=0.9) as connection:
        row = connection.execute(STATE_SQL, {"max_age": HEARTBEAT_SECONDS}).fetchone()
    assert row is not None
    return {
        "database": "up",
        "migrations": "current" if migrations.is_sufficient(row[0]) else "pending",
        "relay": "up" if row[1] else "down",
        "workers": row[2],
    }


def _check_redis(url: str) -> str:
    try:
        with connected(url, seconds=0.2) as client:
            client.ping()
    except (RedisError, OSError):
        return "down"
    return "up"
