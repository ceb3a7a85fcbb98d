"""Whether the service can do its work: asked on a connection of its own, so that a full pool is no outage."""

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import psycopg
from flask import current_app
from redis.exceptions import RedisError

from app.clients.payrail import rail
from app.config import Settings
from app.core import migrations
from app.core.dedicated_connection import dedicated_connection
from app.core.errors import Unavailable
from app.core.redis import connected

CHECK_SECONDS = 1.0
HEARTBEAT_SECONDS = 45.0
STATE_SQL = """
    SELECT (SELECT string_agg(version_num, ',' ORDER BY version_num) FROM alembic_version),
           coalesce((SELECT bool_or(at > now() - make_interval(secs => %(fresh)s)) FROM heartbeat
                      WHERE name = 'relay'), false),
           (SELECT count(*) FROM heartbeat
             WHERE name LIKE 'worker:%%' AND at > now() - make_interval(secs => %(fresh)s))
"""


class NotReady(Unavailable):
    number, code = 50303, "NOT_READY"
    message = "The service is not ready; data says what is missing."


@dataclass
class Probe:
    """The last report and the thread that makes the next one."""

    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "ready"))
    lock: Lock = field(default_factory=Lock)
    checked_at: float = float("-inf")
    last_report: dict[str, Any] = field(default_factory=dict)


def require_ready() -> dict[str, Any]:
    """Readiness with its reasons, at most a second old. Raises NotReady with the same report."""
    settings: Settings = current_app.extensions["settings"]
    probe: Probe = current_app.extensions.setdefault("readiness", Probe())
    with probe.lock:
        if time.monotonic() - probe.checked_at > CHECK_SECONDS:
            probe.last_report, probe.checked_at = _build_report(probe, settings), time.monotonic()
        readiness_report = probe.last_report
    if not readiness_report["ready"]:
        raise NotReady(retry_after=2, **readiness_report)
    return readiness_report


def _build_report(probe: Probe, settings: Settings) -> dict[str, Any]:
    try:
        database = probe.executor.submit(_check_database, settings.DATABASE_URL).result(CHECK_SECONDS)
    except (psycopg.Error, OSError, TooSlow):
        database = {"database": "down", "migrations": "unknown", "relay": "down", "workers": 0}
    payrail = {"payrail": settings.PAYRAIL_MODE}
    if settings.PAYRAIL_MODE == "live":
        payrail["payrail_link"] = "up" if rail().reachable() else "down"
    ready = database["database"] == "up" and database["migrations"] == "current"
    ready = ready and payrail.get("payrail_link") != "down"
    return {"ready": ready, **database, **payrail, "redis": _check_redis(settings.REDIS_URL)}


def _check_database(url: str) -> dict[str, Any]:
    with dedicated_connection(url, seconds=0.9) as connection:
        row = connection.execute(STATE_SQL, {"fresh": HEARTBEAT_SECONDS}).fetchone()
    assert row is not None
    return {
        "database": "up",
        "migrations": "current" if row[0] == migrations.head() else "pending",
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
