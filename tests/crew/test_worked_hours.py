"""Hours per day of a time zone: midnights, daylight saving time, minutes that add up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.crew.states import CHECKED_OUT, STATUSES, STEPS
from app.crew.worked_hours import WorkedShift, calculate_hours

SPRING, AUTUMN = datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 10, 24, 22, tzinfo=UTC)
START = datetime(2026, 12, 4, 20, 0, tzinfo=UTC)


def make_shift(start: datetime, hours: float, *breaks: tuple[float, float]) -> WorkedShift:
    """A finished shift; breaks are in hours from its start."""
    spans = [(start + timedelta(hours=since), start + timedelta(hours=until)) for since, until in breaks]
    return WorkedShift("a" * 24, CHECKED_OUT, start, start + timedelta(hours=hours), False, None, spans)


def list_days(summary: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [(day["date"], day["shifts"], day["worked_minutes"], day["break_minutes"]) for day in summary["per_day"]]


def test_night_is_split_at_local_midnight() -> None:
    night = make_shift(START, 6, (1, 3))
    assert list_days(calculate_hours([night], "Africa/Windhoek")) == [
        ("2026-12-04", 1, 60, 60),
        ("2026-12-05", 0, 180, 60),
    ]
    assert list_days(calculate_hours([night], "UTC")) == [("2026-12-04", 1, 120, 120), ("2026-12-05", 0, 120, 0)]


@pytest.mark.parametrize(("day", "minutes"), [(SPRING, 1380), (AUTUMN, 1500)])
def test_day_may_have_23_or_25_hours(day: datetime, minutes: int) -> None:
    summary = calculate_hours([make_shift(day, minutes / 60)], "Europe/Berlin")
    assert [item[2] for item in list_days(summary)] == [minutes]


def test_no_shifts_are_zero_hours() -> None:
    summary = calculate_hours([], "Africa/Windhoek")
    assert (summary["shifts"], summary["worked_minutes"], summary["first_seen_at"], summary["per_day"]) == (
        0,
        0,
        None,
        [],
    )
    assert "open_shift" not in summary


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 57_600)), max_size=12))
def test_minutes_of_days_add_up(spans: list[tuple[int, int]]) -> None:
    shifts = [make_shift(START + timedelta(minutes=at), seconds / 3600) for at, seconds in spans]
    summary = calculate_hours(shifts, "Africa/Windhoek")
    total = sum((shift.end - shift.start for shift in shifts), timedelta())
    assert summary["worked_minutes"] == sum(item[2] for item in list_days(summary)) == total // timedelta(minutes=1)


def test_checked_out_is_the_only_final_state() -> None:
    assert set(STEPS) == set(STATUSES) and STEPS[CHECKED_OUT] == frozenset()
