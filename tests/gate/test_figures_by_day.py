"""The figures of a gate by day: who came, and whose tickets admit on the day."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from app.admissions.stats import TypePlaces, _is_valid_on
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.gate.test_daily_reentry import DAY, scan_ago
from tests.http import Client, data

WINDHOEK = "Africa/Windhoek"
FRIDAY, SATURDAY = date(2026, 12, 4), date(2026, 12, 5)


def local(day: int, hour: int, minute: int = 0) -> datetime:
    """A time of December in Windhoek, two hours before UTC."""
    return datetime(2026, 12, day, hour, minute, tzinfo=UTC) - timedelta(hours=2)


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "days"),
    [
        (None, None, [3, 4, 5, 6]),
        (local(4, 0), local(5, 0), [4]),
        (local(4, 14), local(5, 4), [4]),
        (local(4, 14), local(5, 5), [4]),
        (local(4, 14), local(5, 5, 1), [4, 5]),
        (local(5, 0), None, [5, 6]),
        (None, local(4, 23), [3, 4]),
    ],
)
def test_a_ticket_type_is_expected_on_its_days(
    valid_from: datetime | None, valid_until: datetime | None, days: list[int]
) -> None:
    type_ = TypePlaces("id", "Pass", 1, 1, valid_from, valid_until)
    assert [day for day in range(3, 7) if _is_valid_on(type_, date(2026, 12, day), WINDHOEK)] == days


@pytest.fixture
def gate(client: Client) -> Gate:
    """An event that began yesterday at noon and ends tomorrow in the night; its tickets admit until tomorrow at five, when the day of the gate ends."""
    gate = Gate(client, reentry="daily")
    today = "date_trunc('day', (now() AT TIME ZONE timezone) - interval '5 hours')"
    execute_sql(
        f"UPDATE event SET starts_at = ({today} - interval '12 hours') AT TIME ZONE timezone,"
        f" ends_at = ({today} + interval '50 hours') AT TIME ZONE timezone"
    )
    execute_sql(
        "UPDATE ticket_type t SET valid_until = e.ends_at - interval '21 hours' FROM event e WHERE e.id = t.event_id"
    )
    return gate


def get_stats(gate: Gate) -> dict[str, Any]:
    return data(gate.owner.get(f"{gate.path}/stats"))


def test_each_day_has_who_came_and_who_is_expected(gate: Gate) -> None:
    code = gate.sell().secret or ""
    gate.sell()
    data(scan_ago(gate, code, DAY))
    data(gate.scan(code))
    data(gate.scan(gate.claim()["code"]))
    stats = get_stats(gate)
    assert stats["today"] == stats["days"][1]["date"]
    assert [(day["expected"], day["admitted"], day["entries"]) for day in stats["days"]] == [
        (3, 1, 1), (3, 1, 2), (0, 0, 0)
    ]  # fmt: skip
    assert sum(day["entries"] for day in stats["days"]) == stats["total"]["entries"] == gate.count_entries()


def test_a_day_before_the_event_with_a_scan_is_there(gate: Gate) -> None:
    data(scan_ago(gate, gate.sell().secret or "", 2 * DAY))
    assert [day["entries"] for day in get_stats(gate)["days"]] == [1, 0, 0, 0]


def test_an_event_of_one_night_has_a_day(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner, startDate="2027-01-09T00:30:00", endDate="2027-01-09T04:30:00")
    (day,) = data(owner.get(f"/api/events/{event['id']}/admissions/stats"))["days"]
    assert day["date"] == "2027-01-08"


def test_a_very_long_event_has_the_days_with_entries(client: Client) -> None:
    gate = Gate(client)
    execute_sql("UPDATE event SET ends_at = '3027-01-09'")
    assert get_stats(gate)["days"] == []
    execute_sql("UPDATE event SET starts_at = now() - interval '3 days'")
    data(gate.scan(gate.sell().secret))
    assert [day["entries"] for day in get_stats(gate)["days"]] == [1]


def test_an_undone_scan_leaves_no_day(gate: Gate) -> None:
    admission = data(scan_ago(gate, gate.sell().secret or "", 2 * DAY))["admissionId"]
    data(gate.undo(admission))
    assert len(get_stats(gate)["days"]) == 3
