"""Hours by the calendar of a place: midnights, clocks that change, minutes that add up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.crew.states import CHECKED_OUT, STATUSES, STEPS
from app.crew.worked_hours import WorkedShift, calculate_hours

SPRING, AUTUMN = datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 10, 24, 22, tzinfo=UTC)
START = datetime(2026, 12, 4, 20, 0, tzinfo=UTC)


def worked(start: datetime, hours: float, *breaks: tuple[float, float]) -> WorkedShift:
    """A shift that is over, with breaks given as hours from its start."""
    spans = [(start + timedelta(hours=since), start + timedelta(hours=until)) for since, until in breaks]
    return WorkedShift("a" * 24, CHECKED_OUT, start, start + timedelta(hours=hours), False, None, spans)


def per_day(found: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [(it["date"], it["shifts"], it["worked_minutes"], it["break_minutes"]) for it in found["per_day"]]


def test_a_night_is_divided_at_the_midnight_of_the_place() -> None:
    night = worked(START, 6, (1, 3))
    assert per_day(calculate_hours([night], "Africa/Windhoek")) == [
        ("2026-12-04", 1, 60, 60),
        ("2026-12-05", 0, 180, 60),
    ]
    assert per_day(calculate_hours([night], "UTC")) == [("2026-12-04", 1, 120, 120), ("2026-12-05", 0, 120, 0)]


@pytest.mark.parametrize(("day", "minutes"), [(SPRING, 1380), (AUTUMN, 1500)])
def test_a_day_may_have_twenty_three_hours_or_twenty_five(day: datetime, minutes: int) -> None:
    found = calculate_hours([worked(day, minutes / 60)], "Europe/Berlin")
    assert [item[2] for item in per_day(found)] == [minutes]


def test_nobody_seen_is_told_as_nothing() -> None:
    found = calculate_hours([], "Africa/Windhoek")
    assert (found["shifts"], found["worked_minutes"], found["first_seen_at"], found["per_day"]) == (0, 0, None, [])
    assert "open_shift" not in found


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 57_600)), max_size=12))
def test_minutes_of_days_add_up(spans: list[tuple[int, int]]) -> None:
    shifts = [worked(START + timedelta(minutes=at), seconds / 3600) for at, seconds in spans]
    found = calculate_hours(shifts, "Africa/Windhoek")
    total = sum((shift.end - shift.start for shift in shifts), timedelta())
    assert found["worked_minutes"] == sum(item[2] for item in per_day(found)) == total // timedelta(minutes=1)


def test_the_table_of_shifts_ends() -> None:
    assert set(STEPS) == set(STATUSES) and STEPS[CHECKED_OUT] == frozenset()
