"""Checks of PostgreSQL, its schema, clock and replica, and of Redis."""

import time
from collections.abc import Mapping
from datetime import datetime
from statistics import median
from typing import Any, cast
from urllib.parse import urlsplit

import psycopg
from redis import Redis
from redis.exceptions import RedisError
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from sqlalchemy import make_url

from app.config import Settings
from app.core import migrations
from app.core.connections import dedicated_connection
from app.core.db import DriverConnection
from app.core.redis import connected
from app.doctor.results import Finding, Findings, certificate_advice, fail, format_error, ok, warn

OLDEST_POSTGRES, OLDEST_REDIS = 150000, (6, 2)
SLOW_ROUND_TRIP_MS, CLOCK_SKEW_WARN_SECONDS, CLOCK_SKEW_FAIL_SECONDS, MAX_LAG_SECONDS = 10.0, 1.0, 5.0, 10.0
SERVER_INFO_SQL = """
    SELECT current_setting('server_version'), current_setting('server_version_num')::int, pg_is_in_recovery(),
           current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on',
           (SELECT count(*) FROM pg_stat_activity), current_setting('max_connections')::int
"""
REDIS_ADVICE = "Start Redis, or correct REDIS_URL; until then the relay sends codes only, and limits are looser."
REPLICA_LAG_SQL = "SELECT pg_is_in_recovery(), extract(epoch FROM now() - pg_last_xact_replay_timestamp())"


def run_checks(settings: Settings) -> Findings:
    yield from _check_database(settings)
    if settings.DATABASE_REPLICA_URL:
        yield _check_replica(settings.DATABASE_REPLICA_URL)
    yield from _check_redis(settings)


def _check_database(settings: Settings) -> Findings:
    try:
        with dedicated_connection(settings.DATABASE_URL, seconds=5) as connection:
            yield from _check_server(connection, settings)
            yield _check_migrations(connection)
            yield _check_clock(connection)
    except (psycopg.Error, OSError) as error:
        yield fail(
            "database",
            f"{_format_host(settings.DATABASE_URL)} does not answer: {format_error(error)}.",
            certificate_advice(format_error(error))
            or "Start PostgreSQL, or correct DATABASE_URL; without it nothing works.",
        )


def _check_server(connection: DriverConnection, settings: Settings) -> Findings:
    row = connection.execute(SERVER_INFO_SQL).fetchone()
    assert row is not None
    version, version_number, is_standby, is_durable, connection_count, max_connections = row
    if version_number < OLDEST_POSTGRES:
        yield fail("database", f"PostgreSQL {version} is too old.", "Upgrade to 15 or newer.")
    if is_standby:
        yield fail(
            "database", "This server is a standby: nothing can be written.", "Point DATABASE_URL at the primary."
        )
    if not is_durable:
        build_finding = fail if settings.production else warn
        yield build_finding(
            "database",
            "fsync or full_page_writes is off: a power cut loses money.",
            "Switch both on in postgresql.conf.",
        )
    if connection_count > max_connections * 0.8:
        yield warn(
            "database",
            f"{connection_count} of {max_connections} connections are taken; the next ones are refused.",
            "Raise max_connections, lower DATABASE_POOL, or put PgBouncer in between.",
        )
    yield _check_speed(connection, version)


def _check_speed(connection: DriverConnection, version: str) -> Finding:
    milliseconds = median(_measure_round_trip(connection)[0] for _ in range(5)) * 1000
    if milliseconds > SLOW_ROUND_TRIP_MS:
        return warn(
            "database",
            f"An empty query to PostgreSQL {version} takes {milliseconds:.0f} ms; an operation runs up to six.",
            "Move it closer: to the same machine or the same data centre.",
        )
    return ok("database", f"PostgreSQL {version} answers in {milliseconds:.1f} ms.")


def _measure_round_trip(connection: DriverConnection) -> tuple[float, datetime]:
    started_at = time.perf_counter()
    row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    return time.perf_counter() - started_at, row[0]


def _check_migrations(connection: DriverConnection) -> Finding:
    # Other nodes may still run the previous version, so not `db upgrade`.
    advice = "Run `flask --app wsgi db expand`."
    table_row = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    if not (table_row and table_row[0]):
        return fail("schema", "The database is empty.", advice)
    version_row = connection.execute(
        "SELECT string_agg(version_num, ',' ORDER BY version_num) FROM alembic_version"
    ).fetchone()
    current_revision, head = (version_row[0] if version_row else None) or "none", migrations.head()
    if current_revision == head:
        return ok("schema", f"The schema is up to date, at {head}.")
    if migrations.is_sufficient(current_revision):
        return ok("schema", f"The schema is at {current_revision}; the next upgrade takes it to {head}.")
    if current_revision in migrations.list_revisions():
        needed = migrations.expanded()
        return fail("schema", f"The database is at {current_revision}, this version needs {needed}.", advice)
    return fail(
        "schema",
        f"The database is at {current_revision}, which this version does not know: a newer version migrated it.",
        "Install the newer version; only that one can migrate back.",
    )


def _check_clock(connection: DriverConnection) -> Finding:
    started_at = time.time()
    seconds, database_time = _measure_round_trip(connection)
    skew_seconds = database_time.timestamp() - (started_at + seconds / 2)
    advice = "Let both machines keep time by NTP (`timedatectl set-ntp true`)."
    if abs(skew_seconds) > CLOCK_SKEW_FAIL_SECONDS:
        return fail(
            "clock",
            f"This machine and the database are {skew_seconds:+.1f} s apart: codes and tokens end early or late.",
            advice,
        )
    if abs(skew_seconds) > CLOCK_SKEW_WARN_SECONDS:
        return warn("clock", f"This machine and the database are {skew_seconds:+.1f} s apart.", advice)
    return ok("clock", f"{abs(skew_seconds) * 1000:.0f} ms from the database's.")


def _check_replica(url: str) -> Finding:
    try:
        with dedicated_connection(url, seconds=5) as connection:
            row = connection.execute(REPLICA_LAG_SQL).fetchone()
    except (psycopg.Error, OSError) as error:
        return warn(
            "replica",
            f"{_format_host(url)} does not answer: {format_error(error)}.",
            certificate_advice(format_error(error)) or "Start it, or unset DATABASE_REPLICA_URL.",
        )
    assert row is not None
    is_standby, lag_seconds = row
    if not is_standby:
        return warn("replica", "DATABASE_REPLICA_URL is no standby.", "Point it at a streaming replica, or unset it.")
    if lag_seconds is not None and lag_seconds > MAX_LAG_SECONDS:
        return warn(
            "replica",
            f"It is {lag_seconds:.0f} s behind, or nothing was written for that time.",
            "Check its network and disk.",
        )
    return ok("replica", f"It follows, {lag_seconds or 0:.1f} s behind.")


def _check_redis(settings: Settings) -> Findings:
    redis = connected(settings.REDIS_URL, seconds=2)
    try:
        with redis:
            started_at = time.perf_counter()
            redis.ping()
            milliseconds, redis_info = (time.perf_counter() - started_at) * 1000, dict(redis.info())
    except (RedisError, OSError, TypeError, ValueError) as error:
        error_text = _explain_redis_error(redis, error)
        yield fail("redis", f"It does not answer: {error_text}.", certificate_advice(error_text) or REDIS_ADVICE)
        return
    yield from check_redis_info(redis_info)
    yield ok("redis", f"Redis {redis_info.get('redis_version', '?')} answers in {milliseconds:.1f} ms.")


def _explain_redis_error(redis: Redis, error: Exception) -> str:
    """Return the reason; when no Sentinel knows a master, with the Sentinels' own errors."""
    if not isinstance(error, MasterNotFoundError):
        return format_error(error)
    sentinel_manager: Sentinel = cast(SentinelConnectionPool, redis.connection_pool).sentinel_manager
    errors = dict.fromkeys(filter(None, map(_ping_error, sentinel_manager.sentinels)))
    return (
        f"no Sentinel knows a master; {'; '.join(errors) or 'they answer, but have none of that name, or it is down'}"
    )


def _ping_error(sentinel: Redis) -> str:
    try:
        sentinel.ping()
    except (RedisError, OSError) as error:
        return format_error(error)
    return ""


def check_redis_info(redis_info: Mapping[str, Any]) -> Findings:
    """Yield the problems that Redis's INFO shows."""
    version = tuple(int(part) for part in str(redis_info.get("redis_version", "0")).split(".")[:2] if part.isdigit())
    if version < OLDEST_REDIS:
        yield fail("redis", f"Redis {redis_info.get('redis_version')} is too old.", "Upgrade to 6.2 or newer.")
    eviction_policy, max_memory, used_memory = (
        redis_info.get("maxmemory_policy"),
        redis_info.get("maxmemory", 0),
        redis_info.get("used_memory", 0),
    )
    if eviction_policy not in (None, "noeviction"):
        yield fail(
            "redis",
            f"maxmemory-policy is {eviction_policy}: when memory is short, Redis silently drops wakeups and limits.",
            "Set `maxmemory-policy noeviction`.",
        )
    if max_memory and used_memory > max_memory * 0.8:
        yield warn(
            "redis", f"{used_memory * 100 // max_memory} % of its memory is used.", "Raise maxmemory; 256 MB is plenty."
        )
    if not redis_info.get("aof_enabled") and not redis_info.get("rdb_last_save_time"):
        yield warn(
            "redis",
            "It keeps nothing over a restart: limits start again at zero (jobs are safe in PostgreSQL).",
            "Set `appendonly yes`.",
        )


def _format_host(url: str) -> str:
    """Return host and port of a URL, without user and password."""
    if url.startswith("postgresql"):
        database_url = make_url(url)
        hosts = database_url.query.get("host", "a local socket")
        host_list = hosts if isinstance(hosts, str) else ", ".join(hosts)
        return f"{database_url.host}:{database_url.port or 5432}" if database_url.host else host_list
    return urlsplit(url).hostname or "it"
