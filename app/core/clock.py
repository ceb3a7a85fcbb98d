"""Time: always aware, always UTC inside the program."""

from datetime import UTC, datetime


def utcnow() -> datetime:
    """This process's clock, for what is shown and logged. Moments that are stored, or that a client sends, are compared
    by the clock of the database: `now()` in a statement, or `app.core.db.database_now`."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """`2026-12-04T16:00:00.000Z`: UTC with milliseconds, the one form that leaves the service."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
