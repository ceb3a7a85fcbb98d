"""What a report is asked for: of which event, over which days, and as of when."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.core.clock import rfc3339
from app.core.errors import ValidationFailed
from app.events.times import instant

LAST_DAYS, MOST_DAYS = 30, 366
WEEKLY_UP_TO = 120


@dataclass(frozen=True)
class Asked:
    """A question with every answer that depends on the clock settled: asked again, it says the same."""

    type: str
    at: datetime
    since: datetime
    until: datetime
    within_days: int

    def kept(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "type": self.type,
            "at": rfc3339(self.at),
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "within_days": self.within_days,
        }

    def same_as(self, other: "Asked") -> bool:
        """Whether both ask the same, but for the moment: an end that was left open moves with it."""
        return self._question() == other._question()

    def _question(self) -> tuple[Any, ...]:
        return self.type, self.since, self.until if self.until != self.at else None, self.within_days

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Asked":
        """What `kept` gave."""
        times = {name: datetime.fromisoformat(kept[name]) for name in ("at", "since", "until")}
        return cls(type=kept["type"], within_days=kept["within_days"], **times)


def asked(
    zone: str,
    *,
    type: str,
    since: datetime | None,
    until: datetime | None,
    within_days: int,
    now: datetime,
) -> Asked:
    """The question with its days: without a beginning, the thirty days up to the end; without an end, until now.

    Raises ValidationFailed when it begins after its end, or holds too many days.
    """
    ends = instant(until, zone) if until else now
    first = ends.astimezone(ZoneInfo(zone)).date() - timedelta(days=LAST_DAYS - 1)
    begins = instant(since or datetime.combine(first, time()), zone)
    if begins > ends:
        raise ValidationFailed.of("to", "too_small", "Must not be before from.")
    if ends - begins > timedelta(days=MOST_DAYS + 1):
        raise ValidationFailed.of("from", "too_large", f"Ask for at most {MOST_DAYS} days.")
    return Asked(type, now, begins, ends, within_days)


def parameters(event: Any, asked: Asked) -> dict[str, Any]:
    """What the statements of `parts` and `kinds` call by name."""
    zone = ZoneInfo(event.timezone)
    return {
        "event": event.id,
        "zone": event.timezone,
        "today": asked.at.astimezone(zone).date(),
        "since": asked.since,
        "until": asked.until,
        "first": asked.since.astimezone(zone).date(),
        "last": asked.until.astimezone(zone).date(),
        "within": asked.within_days,
        "step": 7 if asked.within_days <= WEEKLY_UP_TO else 30,
    }
