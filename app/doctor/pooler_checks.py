"""Checks that a pooler provides connections and that they have the limits which it does not pass on."""

import psycopg

from app.config import Settings
from app.core.connections import connect_arguments
from app.core.db import DriverConnection
from app.doctor.results import Finding, Findings, certificate_advice, fail, format_error, ok, warn

MISSING_LIMITS_SQL = """
    SELECT name FROM pg_settings WHERE setting = '0'
       AND name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
    UNION ALL SELECT name FROM pg_settings WHERE name = 'TimeZone' AND setting NOT IN ('UTC', 'Etc/UTC', 'GMT')
"""
ACCOUNT_ADVICE = "Run deploy/pgbouncer/account.sql in the database, then RECONNECT in the pooler."


def run_checks(settings: Settings) -> Findings:
    """Yield the findings; none without a pooler."""
    if not settings.DATABASE_DIRECT_URL:
        return
    try:
        with _connect(settings.DATABASE_URL) as connection:
            yield _check_limits(connection)
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"It provides no connection: {format_error(error)}.",
            certificate_advice(format_error(error)) or "Start it, or check its log.",
        )
    try:
        with _connect(settings.DATABASE_DIRECT_URL) as direct_connection:
            direct_connection.execute("SELECT 1")
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"The database does not answer directly: {format_error(error)}; streams get no events, migrations cannot run.",
            certificate_advice(format_error(error)) or "Correct DATABASE_DIRECT_URL.",
        )


def _check_limits(connection: DriverConnection) -> Finding:
    missing_limits = [row[0] for row in connection.execute(MISSING_LIMITS_SQL)]
    if missing_limits:
        return warn("pooler", f"Its connections have no {', '.join(sorted(missing_limits))}.", ACCOUNT_ADVICE)
    return ok("pooler", "Its connections have the account's limits.")


def _connect(url: str) -> DriverConnection:
    return psycopg.connect(**connect_arguments(url, connect_timeout=2), autocommit=True, prepare_threshold=None)
