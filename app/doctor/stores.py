"""PostgreSQL and Redis: there, fit, and fast enough."""

import time
from datetime import datetime
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import psycopg
from redis import Redis
from redis.exceptions import RedisError
from redis.sentinel import MasterNotFoundError
from sqlalchemy import make_url

from app.config import Settings
from app.core import migrations
from app.core.apart import apart
from app.core.redis import connected
from app.doctor.findings import Finding, Findings, distrust, fail, ok, reason, warn

OLDEST_POSTGRES, OLDEST_REDIS = 150000, (6, 2)
SLOW_MS, SKEW_WARN, SKEW_FAIL, LAG = 10.0, 1.0, 5.0, 10.0
ABOUT = """
    SELECT current_setting('server_version'), current_setting('server_version_num')::int, pg_is_in_recovery(),
           current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on',
           (SELECT count(*) FROM pg_stat_activity), current_setting('max_connections')::int
"""
WITHOUT_REDIS = (
    "Start Redis, or correct REDIS_URL; until then only codes are sent, by the relay, and limits are looser."
)
LAGGING = "SELECT pg_is_in_recovery(), extract(epoch FROM now() - pg_last_xact_replay_timestamp())"


def findings(settings: Settings) -> Findings:
    yield from _database(settings)
    if settings.DATABASE_REPLICA_URL:
        yield _replica(settings.DATABASE_REPLICA_URL)
    yield from _redis(settings)


def _database(settings: Settings) -> Findings:
    try:
        with apart(settings.DATABASE_URL, seconds=5) as connection:
            yield from _server(connection, settings)
            yield _migrations(connection)
            yield _clock(connection)
    except (psycopg.Error, OSError) as error:
        yield fail(
            "database",
            f"{_place(settings.DATABASE_URL)} does not answer: {reason(error)}.",
            distrust(reason(error)) or "Start PostgreSQL, or correct DATABASE_URL; without it nothing works.",
        )


def _server(connection: "psycopg.Connection[Any]", settings: Settings) -> Findings:
    row = connection.execute(ABOUT).fetchone()
    assert row is not None
    version, number, standby, durable, taken, most = row
    if number < OLDEST_POSTGRES:
        yield fail("database", f"PostgreSQL {version} is too old.", "Upgrade to 15 or newer.")
    if standby:
        yield fail(
            "database", "This server is a standby: nothing can be written.", "Point DATABASE_URL at the primary."
        )
    if not durable:
        wrong = fail if settings.production else warn
        yield wrong(
            "database",
            "fsync or full_page_writes is off: a power cut loses money.",
            "Switch both on in postgresql.conf.",
        )
    if taken > most * 0.8:
        yield warn(
            "database",
            f"{taken} of {most} connections are taken; the next ones are refused.",
            "Raise max_connections, lower DATABASE_POOL, or put PgBouncer in between.",
        )
    yield _speed(connection, version)


def _speed(connection: "psycopg.Connection[Any]", version: str) -> Finding:
    took = median(_round_trip(connection)[0] for _ in range(5)) * 1000
    if took > SLOW_MS:
        return warn(
            "database",
            f"PostgreSQL {version} takes {took:.0f} ms for nothing at all; an operation asks up to six times.",
            "Put it nearer: the same machine or the same data centre.",
        )
    return ok("database", f"PostgreSQL {version} answers in {took:.1f} ms.")


def _round_trip(connection: "psycopg.Connection[Any]") -> tuple[float, datetime]:
    started = time.perf_counter()
    row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    return time.perf_counter() - started, row[0]


def _migrations(connection: "psycopg.Connection[Any]") -> Finding:
    upgrade = "Run `flask --app wsgi db upgrade`."
    table = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    if not (table and table[0]):
        return fail("schema", "The database is empty.", upgrade)
    found = connection.execute(
        "SELECT string_agg(version_num, ',' ORDER BY version_num) FROM alembic_version"
    ).fetchone()
    here, head = (found[0] if found else None) or "none", migrations.head()
    if here == head:
        return ok("schema", f"Every migration is in, up to {head}.")
    if here in migrations.known():
        return fail("schema", f"The database is at {here}, this version needs {head}.", upgrade)
    return fail(
        "schema",
        f"The database is at {here}, which this version does not know: a newer one has been here.",
        "Install the newer version; going back is possible only with it.",
    )


def _clock(connection: "psycopg.Connection[Any]") -> Finding:
    before = time.time()
    took, theirs = _round_trip(connection)
    apart_by = theirs.timestamp() - (before + took / 2)
    do = "Let both machines keep time by NTP (`timedatectl set-ntp true`)."
    if abs(apart_by) > SKEW_FAIL:
        return fail(
            "clock",
            f"This machine and the database are {apart_by:+.1f} s apart: codes and tokens end early or late.",
            do,
        )
    if abs(apart_by) > SKEW_WARN:
        return warn("clock", f"This machine and the database are {apart_by:+.1f} s apart.", do)
    return ok("clock", f"{abs(apart_by) * 1000:.0f} ms from the database's.")


def _replica(url: str) -> Finding:
    try:
        with apart(url, seconds=5) as connection:
            row = connection.execute(LAGGING).fetchone()
    except (psycopg.Error, OSError) as error:
        return warn(
            "replica",
            f"{_place(url)} does not answer: {reason(error)}.",
            distrust(reason(error)) or "Start it, or unset DATABASE_REPLICA_URL.",
        )
    assert row is not None
    standby, lag = row
    if not standby:
        return warn("replica", "DATABASE_REPLICA_URL is no standby.", "Point it at a streaming replica, or unset it.")
    if lag is not None and lag > LAG:
        return warn(
            "replica", f"It is {lag:.0f} s behind, or nothing was written for so long.", "Look at its network and disk."
        )
    return ok("replica", f"It follows, {lag or 0:.1f} s behind.")


def _redis(settings: Settings) -> Findings:
    redis = connected(settings.REDIS_URL, seconds=2)
    try:
        with redis:
            started = time.perf_counter()
            redis.ping()
            took, about = (time.perf_counter() - started) * 1000, dict(redis.info())
    except (RedisError, OSError, TypeError, ValueError) as error:
        why = _told(redis, error)
        yield fail("redis", f"It does not answer: {why}.", distrust(why) or WITHOUT_REDIS)
        return
    yield from fitness(about)
    yield ok("redis", f"Redis {about.get('redis_version', '?')} answers in {took:.1f} ms.")


def _told(redis: Redis, error: Exception) -> str:
    """Why; of Sentinels what they say, which the error that nobody knows a master leaves out."""
    if not isinstance(error, MasterNotFoundError):
        return reason(error)
    manager: Any = redis.connection_pool
    said = dict.fromkeys(filter(None, map(_refusal, manager.sentinel_manager.sentinels)))
    return f"no Sentinel knows a master; {'; '.join(said) or 'they answer, but have none of that name, or it is down'}"


def _refusal(sentinel: Redis) -> str:
    try:
        sentinel.ping()
    except (RedisError, OSError) as error:
        return reason(error)
    return ""


def fitness(about: dict[str, Any]) -> Findings:
    """What Redis's own INFO says against it."""
    version = tuple(int(part) for part in str(about.get("redis_version", "0")).split(".")[:2] if part.isdigit())
    if version < OLDEST_REDIS:
        yield fail("redis", f"Redis {about.get('redis_version')} is too old.", "Upgrade to 6.2 or newer.")
    policy, most, used = about.get("maxmemory_policy"), about.get("maxmemory", 0), about.get("used_memory", 0)
    if policy not in (None, "noeviction"):
        yield fail(
            "redis",
            f"maxmemory-policy is {policy}: when memory is short it drops bells and limits without a word.",
            "Set `maxmemory-policy noeviction`.",
        )
    if most and used > most * 0.8:
        yield warn("redis", f"{used * 100 // most} % of its memory is used.", "Raise maxmemory; 256 MB is plenty.")
    if not about.get("aof_enabled") and not about.get("rdb_last_save_time"):
        yield warn(
            "redis",
            "It keeps nothing over a restart: limits begin anew (work is safe in PostgreSQL).",
            "Set `appendonly yes`.",
        )


def _place(url: str) -> str:
    """Where a database is, without who asks."""
    if url.startswith("postgresql"):
        found = make_url(url)
        hosts = found.query.get("host", "a local socket")
        several = hosts if isinstance(hosts, str) else ", ".join(hosts)
        return f"{found.host}:{found.port or 5432}" if found.host else several
    return urlsplit(url).hostname or "it"
