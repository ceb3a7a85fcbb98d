"""A pooler before the database: does it hand out connections, and do they have the limits that it does not hand on?"""

from typing import Any

import psycopg

from app.config import Settings
from app.core.apart import words_of
from app.doctor.findings import Finding, Findings, distrust, fail, ok, reason, warn

LIMITS = """
    SELECT name FROM pg_settings WHERE setting = '0'
       AND name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
    UNION ALL SELECT name FROM pg_settings WHERE name = 'TimeZone' AND setting NOT IN ('UTC', 'Etc/UTC', 'GMT')
"""
ACCOUNT = "Run deploy/pgbouncer/account.sql in the database, then RECONNECT in the pooler."


def findings(settings: Settings) -> Findings:
    """Nothing, where no pooler is."""
    if not settings.DATABASE_DIRECT_URL:
        return
    try:
        with _connected(settings.DATABASE_URL) as pooled:
            yield _limits(pooled)
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"It hands out no connection: {reason(error)}.",
            distrust(reason(error)) or "Start it, or look at its log.",
        )
    try:
        with _connected(settings.DATABASE_DIRECT_URL) as direct:
            direct.execute("SELECT 1")
    except (psycopg.Error, OSError) as error:
        yield fail(
            "pooler",
            f"Past it, the database does not answer: {reason(error)}; no stream hears anything, nothing can migrate.",
            distrust(reason(error)) or "Correct DATABASE_DIRECT_URL.",
        )


def _limits(pooled: "psycopg.Connection[Any]") -> Finding:
    absent = [row[0] for row in pooled.execute(LIMITS)]
    if absent:
        return warn("pooler", f"Its connections come without {', '.join(sorted(absent))}.", ACCOUNT)
    return ok("pooler", "It hands out connections with the account's limits.")


def _connected(url: str) -> "psycopg.Connection[Any]":
    return psycopg.connect(**words_of(url, connect_timeout=2), autocommit=True, prepare_threshold=None)
