"""The parameters of a report: its type, its period and its time."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.core.clock import rfc3339
from app.core.errors import ValidationFailed
from app.events.time_conversion import to_instant
from app.inventory.item_fields import JsonObject
from app.inventory.queries import ReportEvent, StockEvent

DEFAULT_DAYS, MAX_DAYS = 30, 366
MAX_WEEKLY_DAYS = 120


@dataclass(frozen=True)
class ReportParameters:
    """The parameters of a report with fixed times, so that a repeated run gives the same report."""

    type: str
    at: datetime
    since: datetime
    until: datetime
    within_days: int

    def to_dict(self) -> JsonObject:
        """Return the parameters for the row of a background job."""
        return {
            "type": self.type,
            "at": rfc3339(self.at),
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "within_days": self.within_days,
        }

    def is_same_report(self, other: "ReportParameters") -> bool:
        """Return whether both give the same report. A period without a set end always ends at the time of the report."""
        return self._comparison_key() == other._comparison_key()

    def _comparison_key(self) -> tuple[object, ...]:
        return self.type, self.since, self.until if self.until != self.at else None, self.within_days

    @classmethod
    def from_dict(cls, data: JsonObject) -> "ReportParameters":
        """Return the parameters that `to_dict` gave."""
        times = {name: datetime.fromisoformat(str(data[name])) for name in ("at", "since", "until")}
        return cls(type=str(data["type"]), within_days=int(str(data["within_days"])), **times)


def build_report_parameters(
    zone: str,
    *,
    type: str,
    since: datetime | None,
    until: datetime | None,
    within_days: int,
    now: datetime,
) -> ReportParameters:
    """Return the parameters with their period: by default the thirty days until `until`, or until now.

    Raises ValidationFailed when the period ends before it starts or is too long.
    """
    end = to_instant(until, zone) if until else now
    first_day = end.astimezone(ZoneInfo(zone)).date() - timedelta(days=DEFAULT_DAYS - 1)
    start = to_instant(since or datetime.combine(first_day, time()), zone)
    if start > end:
        raise ValidationFailed.of("to", "too_small", "Must not be before from.")
    if end - start > timedelta(days=MAX_DAYS + 1):
        raise ValidationFailed.of("from", "too_large", f"Ask for at most {MAX_DAYS} days.")
    return ReportParameters(type, now, start, end, within_days)


def build_sql_params(event: StockEvent | ReportEvent, report_parameters: ReportParameters) -> JsonObject:
    """Return the named parameters of the report statements."""
    zone = ZoneInfo(event.timezone)
    return {
        "event": event.id,
        "zone": event.timezone,
        "today": report_parameters.at.astimezone(zone).date(),
        "since": report_parameters.since,
        "until": report_parameters.until,
        "first": report_parameters.since.astimezone(zone).date(),
        "last": report_parameters.until.astimezone(zone).date(),
        "within": report_parameters.within_days,
        "step": 7 if report_parameters.within_days <= MAX_WEEKLY_DAYS else 30,
    }
