"""Minutes worked and on break per day of a time zone, calculated from shifts and breaks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NotRequired, TypedDict
from zoneinfo import ZoneInfo

from app.crew.models import Shift, ShiftBreak
from app.crew.states import CHECKED_OUT, MAX_SHIFT_DURATION

TimeSpan = tuple[datetime, datetime]


@dataclass(frozen=True)
class WorkedShift:
    """A shift at one moment: its start and end, and its breaks."""

    id: str
    status: str
    start: datetime
    end: datetime
    automatic: bool
    on_break_since: datetime | None
    breaks: list[TimeSpan]

    @classmethod
    def from_shift(cls, shift: Shift, breaks: Sequence[ShiftBreak], now: datetime) -> "WorkedShift":
        """The shift at `now`; a forgotten one ended after 16 hours, also if the database does not say so yet."""
        latest_end = shift.started_at + MAX_SHIFT_DURATION
        is_forgotten = shift.ended_at is None and latest_end <= now
        end = shift.ended_at or min(now, latest_end)
        break_spans = [(shift_break.started_at, shift_break.ended_at) for shift_break in breaks]
        if shift.break_since is not None:
            break_spans.append((shift.break_since, end))
        return cls(
            id=shift.id,
            status=CHECKED_OUT if is_forgotten else shift.status,
            start=shift.started_at,
            end=end,
            automatic=is_forgotten or shift.ended_by == "auto",
            on_break_since=None if is_forgotten else shift.break_since,
            breaks=break_spans,
        )


class DayHours(TypedDict):
    """What was worked on one day; `date` is ISO 8601."""

    date: str
    shifts: int
    worked_minutes: int
    break_minutes: int


class HoursSummary(TypedDict):
    """What was worked in all and per day; `automatic` counts shifts that ended automatically."""

    shifts: int
    worked_minutes: int
    break_minutes: int
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    automatic: int
    per_day: list[DayHours]
    open_shift: NotRequired[WorkedShift]


def calculate_hours(shifts: Sequence[WorkedShift], timezone: str) -> HoursSummary:
    """The hours of these shifts. The minutes of the days add up to the total, because seconds carry over."""
    shifts_by_day: dict[date, int] = defaultdict(int)
    presence_by_day = _sum_by_day([(shift.start, shift.end) for shift in shifts], timezone)
    break_by_day = _sum_by_day([span for shift in shifts for span in shift.breaks], timezone)
    for shift in shifts:
        shifts_by_day[shift.start.astimezone(ZoneInfo(timezone)).date()] += 1
    days = sorted({*shifts_by_day, *presence_by_day})
    worked_minutes = _round_to_minutes([(presence_by_day[day] - break_by_day[day]) for day in days])
    break_minutes = _round_to_minutes([break_by_day[day] for day in days])
    open_shift = next((shift for shift in shifts if shift.status != CHECKED_OUT), None)
    summary: HoursSummary = {
        "shifts": len(shifts),
        "worked_minutes": sum(worked_minutes),
        "break_minutes": sum(break_minutes),
        "first_seen_at": min((shift.start for shift in shifts), default=None),
        "last_seen_at": max((shift.end for shift in shifts), default=None),
        "automatic": sum(shift.automatic for shift in shifts),
        "per_day": [
            {
                "date": day.isoformat(),
                "shifts": shifts_by_day[day],
                "worked_minutes": worked,
                "break_minutes": paused_minutes,
            }
            for day, worked, paused_minutes in zip(days, worked_minutes, break_minutes, strict=True)
        ],
    }
    if open_shift is not None:
        summary["open_shift"] = open_shift
    return summary


def _sum_by_day(spans: Sequence[TimeSpan], timezone: str) -> dict[date, timedelta]:
    duration_by_day: dict[date, timedelta] = defaultdict(timedelta)
    for span in spans:
        for day, duration in _split_by_day(span, ZoneInfo(timezone)):
            duration_by_day[day] += duration
    return duration_by_day


def _split_by_day(span: TimeSpan, zone: ZoneInfo) -> Iterator[tuple[date, timedelta]]:
    """The span split at each midnight of the zone."""
    start, end = span
    while start < end:
        day = start.astimezone(zone).date()
        midnight = datetime.combine(day + timedelta(days=1), datetime.min.time(), zone).astimezone(UTC)
        part_end = min(end, midnight)
        yield day, part_end - start
        start = part_end


def _round_to_minutes(durations: Sequence[timedelta]) -> list[int]:
    """The whole minutes of each duration; they add up to the whole minutes of the sum."""
    minutes, total = [], timedelta()
    for duration in durations:
        previous_minutes = total // timedelta(minutes=1)
        total += duration
        minutes.append(total // timedelta(minutes=1) - previous_minutes)
    return minutes
