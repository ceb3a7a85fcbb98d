"""Events where a ticket enters once a day."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from threading import Event
from time import sleep
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.events.reentry import entry_day_sql, get_entry_day
from tests.allocations.law import assert_books_agree
from tests.factories.gate import Gate
from tests.gate.test_batch import list_conflicts, list_statuses, offline_scan
from tests.gate.test_batch import send as send_batch
from tests.gate.test_races import MANY, scan_concurrently
from tests.gate.test_scans import refusal
from tests.http import Client, data, read_error
from tests.unguarded import without_rules

DAY = 24 * 60
WAITING = text("""
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'""")
KINDS = pytest.mark.parametrize("kind", ["slot", "ticket"])
ALREADY_ADMITTED = (409, "ALREADY_ADMITTED")


@pytest.fixture
def gate(client: Client) -> Gate:
    return Gate(client, reentry="daily")


def make_code(gate: Gate, kind: str) -> str:
    return str(gate.claim()["code"] if kind == "slot" else gate.sell().secret)


def scan_ago(gate: Gate, code: str, minutes: float) -> Any:
    return gate.scan(code, occurredAt=offline_scan(code, minutes)["occurredAt"])


@KINDS
def test_a_ticket_enters_once_a_day(gate: Gate, kind: str) -> None:
    code = make_code(gate, kind)
    assert not data(scan_ago(gate, code, DAY))["reentry"]
    assert read_error(scan_ago(gate, code, DAY)) == ALREADY_ADMITTED
    today = data(gate.scan(code, gate="South"))
    assert today["reentry"]
    *refused, details = refusal(gate.scan(code))
    assert (*refused,) == ALREADY_ADMITTED
    assert (details["gate"], details["admittedAt"]) == ("South", today["admittedAt"])
    assert read_error(gate.scan(code, direction="out")) == (409, "NO_REENTRY")
    assert gate.count_entries() == 2
    assert_books_agree()


def test_an_entry_that_arrives_late_counts_for_its_own_day(gate: Gate) -> None:
    code = make_code(gate, "slot")
    data(gate.scan(code))
    late = [offline_scan(code, 2 * DAY), offline_scan(code, DAY), offline_scan(code, 2 * DAY - 1 / 60)]
    assert list_statuses(send_batch(gate, *late)) == [
        ("admitted", None), ("admitted", None), ("conflict", "ALREADY_ADMITTED")
    ]  # fmt: skip
    first = db.session.scalar(text("SELECT admitted_at FROM allocation_slot WHERE code = :code"), {"code": code})
    assert first.isoformat(timespec="milliseconds") == late[0]["occurredAt"]
    assert_books_agree()


def test_undoing_an_entry_settles_the_conflict_of_its_day_only(gate: Gate) -> None:
    code = make_code(gate, "ticket")
    for minutes in (2 * DAY, DAY):
        results = send_batch(gate, *(offline_scan(code, minutes - seconds / 60) for seconds in range(3)))
        assert [result["status"] for result in results] == ["admitted", "conflict", "conflict"]
    data(gate.undo(results[0]["admissionId"]))
    conflicts = {conflict["id"] for conflict in list_conflicts(gate)}
    assert len(conflicts) == 3 and results[1]["admissionId"] not in conflicts
    assert read_error(scan_ago(gate, code, DAY)) == ALREADY_ADMITTED
    assert_books_agree()


def test_an_undone_entry_may_be_made_again(gate: Gate) -> None:
    code = make_code(gate, "ticket")
    data(scan_ago(gate, code, DAY))
    data(gate.undo(data(gate.scan(code))["admissionId"]))
    assert data(gate.scan(code))["reentry"]
    assert_books_agree()


def test_a_party_comes_back_the_next_day(gate: Gate) -> None:
    code, other, last = gate.claim_party(3)
    yesterday = offline_scan(code, DAY)["occurredAt"]
    assert data(gate.scan(code, count=3, occurredAt=yesterday))["admitted"] == 3
    training = data(gate.scan(code, training=True))
    first = data(gate.scan(code))
    assert (first["reentry"], first["remaining"], training["remaining"]) == (True, 2, 2)
    *refused, details = refusal(gate.scan(code))
    assert (*refused,) == ALREADY_ADMITTED and details["remaining"] == 2
    assert data(gate.scan(other, count=2))["remaining"] == 0
    assert read_error(gate.scan(last, count=1)) == ALREADY_ADMITTED
    assert_books_agree()


@pytest.mark.parametrize(
    "zones", [("Africa/Windhoek", "Pacific/Kiritimati"), ("Pacific/Kiritimati", "Africa/Windhoek")]
)
def test_another_timezone_changes_the_days_of_all_entries(gate: Gate, zones: tuple[str, str]) -> None:
    path, code = f"/api/events/{gate.event_id}", make_code(gate, "ticket")
    data(gate.owner.patch(path, {"timezone": zones[0]}))
    for minutes in (DAY, 0):
        data(scan_ago(gate, code, minutes))
    data(gate.owner.patch(path, {"timezone": zones[1]}))
    assert read_error(gate.scan(code)) == ALREADY_ADMITTED
    assert read_error(scan_ago(gate, code, DAY)) == ALREADY_ADMITTED
    assert data(scan_ago(gate, code, 2 * DAY))["admitted"] == 1
    assert_books_agree()


def test_a_conflict_lists_the_entries_of_its_day(gate: Gate) -> None:
    code = make_code(gate, "ticket")
    for minutes in (2 * DAY, DAY):
        send_batch(gate, offline_scan(code, minutes), offline_scan(code, minutes - 1 / 60))
    conflicts = list_conflicts(gate)
    assert [len(conflict["entries"]) for conflict in conflicts] == [2, 2]
    assert len({entry["admissionId"] for conflict in conflicts for entry in conflict["entries"]}) == 4


def test_an_entry_by_the_list_of_guests_is_of_its_day_too(gate: Gate) -> None:
    slot = gate.claim()
    data(gate.block.admit(slot["slotId"]))
    assert read_error(gate.scan(slot["code"])) == ALREADY_ADMITTED
    (day,) = db.session.scalars(text("SELECT entry_day FROM admission"))
    assert day == get_entry_day(datetime.now(UTC), gate.block.event["timezone"])


def test_the_list_of_a_phone_has_the_last_entry(gate: Gate) -> None:
    codes = [make_code(gate, kind) for kind in ("slot", "ticket")]
    for code in codes:
        data(scan_ago(gate, code, DAY))
    today = [data(gate.scan(code)) for code in codes]
    places = {place[0]: place for place in data(gate.owner.get(f"{gate.path}/snapshot"))["places"]}
    for scanned in today:
        *_, first, _, _, _, left, last = places[scanned["placeId"]]
        assert last == round(datetime.fromisoformat(scanned["admittedAt"]).timestamp())
        assert last - first >= DAY * 60 - 1 and left is None


@contextmanager
def hold_place(code: str) -> Iterator[None]:
    """Lock the place until two scans wait for it, so that both begin before one of them ends."""
    is_held = Event()

    def hold() -> None:
        with engine.begin() as connection:
            for table, column in (("ticket", "secret"), ("allocation_slot", "code")):
                connection.execute(text(f"SELECT id FROM {table} WHERE {column} = :code FOR UPDATE"), {"code": code})
            is_held.set()
            for _ in range(1000):
                if connection.scalar(WAITING) > 1:
                    break
                sleep(0.02)

    engine = transaction_engine(db.engine)
    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        assert is_held.wait(10)
        yield
        held.result()


@pytest.mark.parametrize("days_before", [0, 1])
@KINDS
def test_concurrent_scans_admit_once_a_day(app: Flask, gate: Gate, kind: str, days_before: int) -> None:
    code = make_code(gate, kind)
    for day in range(days_before, 0, -1):
        data(scan_ago(gate, code, day * DAY))
    with hold_place(code):
        answers = scan_concurrently(app, gate, code)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    assert {read_error(answer)[1] for answer in answers if answer.status_code == 409} == {"ALREADY_ADMITTED"}
    assert gate.count_entries() == 1 + days_before
    assert_books_agree()


@pytest.mark.control
def test_concurrent_scans_enter_repeatedly_without_the_index(app: Flask, gate: Gate) -> None:
    code = make_code(gate, "ticket")
    data(scan_ago(gate, code, DAY))
    with without_rules("uq_admission_entry_day"), hold_place(code):
        answers = scan_concurrently(app, gate, code)
        assert Counter(answer.status_code for answer in answers)[200] > 1


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Africa/Windhoek", date(2026, 12, 5)),
        ("Europe/Berlin", date(2027, 3, 28)),
        ("Europe/Berlin", date(2026, 10, 25)),
    ],
)
def test_a_day_begins_at_five_in_the_morning(zone: str, day: date) -> None:
    """Also on the days when clocks change."""
    five = datetime.combine(day, time(5), ZoneInfo(zone)).astimezone(UTC)
    days = [get_entry_day(moment, zone) for moment in (five - timedelta(seconds=1), five)]
    assert days == [day - timedelta(days=1), day]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moment=st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
    zone=st.sampled_from(["Africa/Windhoek", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"]),
)
def test_the_database_counts_the_same_days(app: Flask, moment: datetime, zone: str) -> None:
    with app.app_context():
        statement = text(f"SELECT {entry_day_sql('CAST(:moment AS timestamptz)', ':zone')}")
        assert db.session.scalar(statement, {"moment": moment, "zone": zone}) == get_entry_day(moment, zone)
