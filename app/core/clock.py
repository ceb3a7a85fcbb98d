"""The current time and its text form; times are aware and in UTC."""

from datetime import UTC, datetime


def utcnow() -> datetime:
    """Return the time of this process, to show and to log.

    Compare stored times and times from a client by the database's clock: `now()` in a statement or
    `app.core.db.database_now`.
    """
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """Return `2026-12-04T16:00:00.000Z`: UTC with milliseconds, the form of all times in the API."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
