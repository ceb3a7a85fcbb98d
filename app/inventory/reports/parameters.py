"""What a report is asked for: of which event, over which days, and as of when."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.core.clock import rfc3339
from app.core.errors import ValidationFailed
from app.events.time_conversion import to_instant

DEFAULT_DAYS, MAX_DAYS = 30, 366
MAX_WEEKLY_DAYS = 120


@dataclass(frozen=True)
class ReportParameters:
    """A question with every answer that depends on the clock settled: asked again, it says the same."""

    type: str
    at: datetime
    since: datetime
    until: datetime
    within_days: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "type": self.type,
            "at": rfc3339(self.at),
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "within_days": self.within_days,
        }

    def is_same_report(self, other: "ReportParameters") -> bool:
        """Whether both ask the same, but for the moment: an end that was left open moves with it."""
        return self._comparison_key() == other._comparison_key()

    def _comparison_key(self) -> tuple[Any, ...]:
        return self.type, self.since, self.until if self.until != self.at else None, self.within_days

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ReportParameters":
        """What `kept` gave."""
        times = {name: datetime.fromisoformat(data[name]) for name in ("at", "since", "until")}
        return cls(type=data["type"], within_days=data["within_days"], **times)


def build_report_parameters(
    zone: str,
    *,
    type: str,
    since: datetime | None,
    until: datetime | None,
    within_days: int,
    now: datetime,
) -> ReportParameters:
    """The question with its days: without a beginning, the thirty days up to the end; without an end, until now.

    Raises ValidationFailed when it begins after its end, or holds too many days.
    """
    end = to_instant(until, zone) if until else now
    first_day = end.astimezone(ZoneInfo(zone)).date() - timedelta(days=DEFAULT_DAYS - 1)
    start = to_instant(since or datetime.combine(first_day, time()), zone)
    if start > end:
        raise ValidationFailed.of("to", "too_small", "Must not be before from.")
    if end - start > timedelta(days=MAX_DAYS + 1):
        raise ValidationFailed.of("from", "too_large", f"Ask for at most {MAX_DAYS} days.")
    return ReportParameters(type, now, start, end, within_days)


def build_sql_params(event: Any, report_parameters: ReportParameters) -> dict[str, Any]:
    """What the statements of `parts` and `kinds` call by name."""
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
