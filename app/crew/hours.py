"""Hours: from shifts and breaks to minutes per day of a time zone."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.crew.models import Shift, ShiftBreak
from app.crew.states import CHECKED_OUT, LONGEST

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Worked:
    """A shift as it stands at one moment: until when it counts, and the breaks in it."""

    id: str
    status: str
    start: datetime
    end: datetime
    automatic: bool
    on_break_since: datetime | None
    breaks: list[Span]

    @classmethod
    def of(cls, shift: Shift, breaks: Sequence[ShiftBreak], now: datetime) -> "Worked":
        """The shift at `now`; one that was forgotten ended after 16 hours, whether or not anybody wrote it down."""
        limit = shift.started_at + LONGEST
        forgotten = shift.ended_at is None and limit <= now
        end = shift.ended_at or min(now, limit)
        spans = [(item.started_at, item.ended_at) for item in breaks]
        if shift.break_since is not None:
            spans.append((shift.break_since, end))
        return cls(
            id=shift.id,
            status=CHECKED_OUT if forgotten else shift.status,
            start=shift.started_at,
            end=end,
            automatic=forgotten or shift.ended_by == "auto",
            on_break_since=None if forgotten else shift.break_since,
            breaks=spans,
        )


def figures(shifts: Sequence[Worked], zone: str) -> dict[str, Any]:
    """Shifts, minutes worked and on break, first and last seen, and the same per day.

    Minutes of days add up to the minutes in all, because seconds are carried from one day to the next.
    """
    begun: dict[date, int] = defaultdict(int)
    present = _per_day([(shift.start, shift.end) for shift in shifts], zone)
    paused = _per_day([span for shift in shifts for span in shift.breaks], zone)
    for shift in shifts:
        begun[shift.start.astimezone(ZoneInfo(zone)).date()] += 1
    days = sorted({*begun, *present})
    working = _minutes([(present[day] - paused[day]) for day in days])
    resting = _minutes([paused[day] for day in days])
    running = next((shift for shift in shifts if shift.status != CHECKED_OUT), None)
    return {
        "shifts": len(shifts),
        "worked_minutes": sum(working),
        "break_minutes": sum(resting),
        "first_seen_at": min((shift.start for shift in shifts), default=None),
        "last_seen_at": max((shift.end for shift in shifts), default=None),
        "automatic": sum(shift.automatic for shift in shifts),
        "per_day": [
            {"date": day.isoformat(), "shifts": begun[day], "worked_minutes": work, "break_minutes": rest}
            for day, work, rest in zip(days, working, resting, strict=True)
        ],
        **({"open_shift": running} if running else {}),
    }


def _per_day(spans: Sequence[Span], zone: str) -> dict[date, timedelta]:
    found: dict[date, timedelta] = defaultdict(timedelta)
    for span in spans:
        for day, length in _split(span, ZoneInfo(zone)):
            found[day] += length
    return found


def _split(span: Span, zone: ZoneInfo) -> Iterator[tuple[date, timedelta]]:
    """The span cut at each midnight of the zone."""
    start, end = span
    while start < end:
        day = start.astimezone(zone).date()
        midnight = datetime.combine(day + timedelta(days=1), datetime.min.time(), zone).astimezone(UTC)
        cut = min(end, midnight)
        yield day, cut - start
        start = cut


def _minutes(lengths: Sequence[timedelta]) -> list[int]:
    """Whole minutes of each, so that they add up to the whole minutes of all."""
    found, total = [], timedelta()
    for length in lengths:
        before = total // timedelta(minutes=1)
        total += length
        found.append(total // timedelta(minutes=1) - before)
    return found
