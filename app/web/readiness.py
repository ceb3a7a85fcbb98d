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
from app.core.apart import apart
from app.core.errors import Unavailable
from app.core.redis import connected

SECONDS = 1.0
FRESH = 45.0
STATE = """
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

    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "ready"))
    lock: Lock = field(default_factory=Lock)
    made_at: float = float("-inf")
    last: dict[str, Any] = field(default_factory=dict)


def report() -> dict[str, Any]:
    """Readiness with its reasons, at most a second old. Raises NotReady with the same report."""
    settings: Settings = current_app.extensions["settings"]
    probe: Probe = current_app.extensions.setdefault("readiness", Probe())
    with probe.lock:
        if time.monotonic() - probe.made_at > SECONDS:
            probe.last, probe.made_at = _made(probe, settings), time.monotonic()
        found = probe.last
    if not found["ready"]:
        raise NotReady(retry_after=2, **found)
    return found


def _made(probe: Probe, settings: Settings) -> dict[str, Any]:
    try:
        database = probe.thread.submit(_database, settings.DATABASE_URL).result(SECONDS)
    except (psycopg.Error, OSError, TooSlow):
        database = {"database": "down", "migrations": "unknown", "relay": "down", "workers": 0}
    payrail = {"payrail": settings.PAYRAIL_MODE}
    if settings.PAYRAIL_MODE == "live":
        payrail["payrail_link"] = "up" if rail().reachable() else "down"
    ready = database["database"] == "up" and database["migrations"] == "current"
    ready = ready and payrail.get("payrail_link") != "down"
    return {"ready": ready, **database, **payrail, "redis": _redis(settings.REDIS_URL)}


def _database(url: str) -> dict[str, Any]:
    with apart(url, seconds=0.9) as connection:
        row = connection.execute(STATE, {"fresh": FRESH}).fetchone()
    assert row is not None
    return {
        "database": "up",
        "migrations": "current" if row[0] == migrations.head() else "pending",
        "relay": "up" if row[1] else "down",
        "workers": row[2],
    }


def _redis(url: str) -> str:
    try:
        with connected(url, seconds=0.2) as client:
            client.ping()
    except (RedisError, OSError):
        return "down"
    return "up"
