"""A pooler before the database: does it hand out connections, and do they have the limits that it does not hand on?"""

from typing import Any

import psycopg

from app.config import Settings
from app.core.dedicated_connection import connect_arguments
from app.doctor.results import Finding, Findings, certificate_advice, fail, format_error, ok, warn

MISSING_LIMITS_SQL = """
    SELECT name FROM pg_settings WHERE setting = '0'
       AND name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
    UNION ALL SELECT name FROM pg_settings WHERE name = 'TimeZone' AND setting NOT IN ('UTC', 'Etc/UTC', 'GMT')
"""
ACCOUNT_ADVICE = "Run deploy/pgbouncer/account.sql in the database, then RECONNECT in the pooler."


def run_checks(settings: Settings) -> Findings:
    """Nothing, where no pooler is."""
    if not settings.DATABASE_DIRECT_URL:
        return
    try:
        with _connect(settings.DATABASE_URL) as connection:
            yield _check_limits(connection)
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"It hands out no connection: {format_error(error)}.",
            certificate_advice(format_error(error)) or "Start it, or look at its log.",
        )
    try:
        with _connect(settings.DATABASE_DIRECT_URL) as direct_connection:
            direct_connection.execute("SELECT 1")
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"Past it, the database does not answer: {format_error(error)}; no stream hears anything, nothing can migrate.",
            certificate_advice(format_error(error)) or "Correct DATABASE_DIRECT_URL.",
        )


def _check_limits(connection: "psycopg.Connection[Any]") -> Finding:
    missing_limits = [row[0] for row in connection.execute(MISSING_LIMITS_SQL)]
    if missing_limits:
        return warn("pooler", f"Its connections come without {', '.join(sorted(missing_limits))}.", ACCOUNT_ADVICE)
    return ok("pooler", "It hands out connections with the account's limits.")


def _connect(url: str) -> "psycopg.Connection[Any]":
    return psycopg.connect(**connect_arguments(url, connect_timeout=2), autocommit=True, prepare_threshold=None)
