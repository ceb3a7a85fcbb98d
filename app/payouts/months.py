"""Calendar months in Windhoek, and whose statement is owed for one."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.clock import utcnow
from app.core.dates import HOME

PAGE = 500
# A merchant without a movement has nothing to read. The purse is walked, not the ledger: it has a row a merchant.
OWED = text("""
    INSERT INTO payout_statement (account_id, month)
    SELECT p.owner_id, :month FROM ledger_purse p
     WHERE NOT EXISTS (SELECT 1 FROM payout_statement s WHERE s.account_id = p.owner_id AND s.month = :month)
       AND EXISTS (SELECT 1 FROM ledger_entry e
                    WHERE e.owner_id = p.owner_id AND e.posted_at >= :since AND e.posted_at < :until)
     ORDER BY p.owner_id LIMIT :page
    ON CONFLICT DO NOTHING RETURNING account_id
""")


def today() -> date:
    return utcnow().astimezone(ZoneInfo(HOME)).date()


def last(day: date) -> date:
    """The first day of the month before."""
    return (day.replace(day=1) - timedelta(days=1)).replace(day=1)


def read(month: str) -> date:
    """The first day of `2026-11`. Raises ValueError, also for a month without a neighbour in the calendar."""
    first = datetime.strptime(month, "%Y-%m").date()
    if not 1 < first.year < 9999:
        raise ValueError(month)
    return first


def span(month: date) -> tuple[datetime, datetime]:
    """Its first instant, and that of the next."""
    following = (month + timedelta(days=32)).replace(day=1)
    since, until = (datetime.combine(day, time(), ZoneInfo(HOME)).astimezone(UTC) for day in (month, following))
    return since, until


# What is booked has the time at which its transaction began, and is seen when it ends. Which month is over is found out
# by another clock than the database's, which may say that it is not.
UNDER_WAY = text("""
    SELECT now() < :until OR EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND backend_type = 'client backend'
                      AND pid <> pg_backend_pid() AND xact_start < :until)
""")


def owed(session: OrmSession, month: date) -> Sequence[str]:
    """Merchants with movements in the month who have no statement yet; from now on they count as having one.

    Nobody while the month is not over by the database's clock, or a transaction that began in it is open: something
    may be booked that the statement would miss.
    """
    since, until = span(month)
    if session.scalar(UNDER_WAY, {"until": until}):
        return []
    return session.scalars(OWED, {"month": month, "since": since, "until": until, "page": PAGE}).all()
