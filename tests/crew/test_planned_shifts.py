"""The plan of a stall's shifts, and who is missing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session as OrmSession

from app.core.clock import rfc3339
from app.core.transaction import transaction
from app.crew import planned_shifts
from app.crew.planned_shifts import WARNING_TIME, list_at_risk_shifts
from app.crew.queries import Stall, get_stall
from tests.factories.crew import create_stall, post_shift, replace_crew, start_shift
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently

START = datetime(2030, 6, 4, 16, tzinfo=UTC)
END = START + timedelta(hours=4)
SECOND = timedelta(seconds=1)


def plan(member: dict[str, Any], start: datetime = START, end: datetime = END, **fields: Any) -> dict[str, Any]:
    return {"crewMemberId": member["id"], "startsAt": rfc3339(start), "endsAt": rfc3339(end), **fields}


def put_plan(me: Client, path: str, *shifts: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data(me.put(f"{path}/planned-shifts", {"plannedShifts": list(shifts)}))[
        "plannedShifts"
    ]
    return rows


def list_at_risk(me: Client, path: str) -> list[tuple[str, str]]:
    rows = data(me.get(f"{path}/at-risk"))["plannedShifts"]
    return [(row["name"], row["state"]) for row in rows]


def test_plan_is_replaced_as_a_whole_and_sorted_by_time(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    rows = put_plan(me, path, plan(jonas, END, END + timedelta(hours=1)), plan(selma, note="Till 2"))
    assert [(row["name"], row["note"]) for row in rows] == [("Selma", "Till 2"), ("Jonas", None)]
    response = me.get(f"{path}/planned-shifts")
    assert data(response)["plannedShifts"] == rows and response.headers["ETag"] == '"2"'
    assert put_plan(me, path) == [] and data(me.get(f"{path}/planned-shifts"))["version"] == 3


def test_time_without_offset_is_local_to_the_event(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    body = {"crewMemberId": selma["id"], "startsAt": "2030-06-04T18:00", "endsAt": "2030-06-04T20:00"}
    assert put_plan(me, path, body)[0]["startsAt"] == "2030-06-04T16:00:00.000Z"


def test_all_problems_are_reported_and_nothing_changes(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    (kept,) = put_plan(me, path, plan(selma))
    response = me.put(
        f"{path}/planned-shifts",
        {
            "plannedShifts": [
                plan(selma),
                plan(selma, END - SECOND, END + timedelta(hours=1)),
                plan(selma, END + timedelta(hours=1), END),
                plan({"id": "6565a1f0c3d2e1b0a9f8e7d6"}, START, START + timedelta(hours=16, seconds=1)),
            ]
        },
    )
    assert list_problems(response) == {
        "plannedShifts[1].startsAt": "overlap",
        "plannedShifts[2].endsAt": "ends_before_start",
        "plannedShifts[3].crewMemberId": "not_found",
        "plannedShifts[3].endsAt": "too_long",
    }
    assert data(me.get(f"{path}/planned-shifts"))["plannedShifts"] == [kept]


def test_shifts_that_touch_do_not_overlap(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    assert len(put_plan(me, path, plan(selma), plan(selma, END, END + timedelta(hours=16)))) == 2


def test_member_of_another_stall_cannot_be_planned(client: Client) -> None:
    me, path = create_stall(client)
    other, other_path = create_stall(client)
    (stranger,) = replace_crew(other, other_path, {"name": "Jonas"})
    response = me.put(f"{path}/planned-shifts", {"plannedShifts": [plan(stranger)]})
    assert list_problems(response) == {"plannedShifts[0].crewMemberId": "not_found"}
    assert me.get(f"{other_path}/planned-shifts").status_code == 404
    assert me.get(f"{other_path}/at-risk").status_code == 404


def test_who_leaves_the_crew_leaves_the_plan(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    put_plan(me, path, plan(selma), plan(jonas))
    replace_crew(me, path, {"id": jonas["id"], "name": "Jonas"})
    remaining = data(me.get(f"{path}/planned-shifts"))
    assert [row["name"] for row in remaining["plannedShifts"]] == ["Jonas"] and remaining["version"] == 3


@pytest.mark.parametrize(
    ("moment", "states"),
    [
        (START - WARNING_TIME - SECOND, []),
        (START - WARNING_TIME, ["due"]),
        (START - SECOND, ["due"]),
        (START, ["late"]),
        (END - SECOND, ["late"]),
        (END, []),
    ],
)
def test_shift_is_at_risk_from_half_an_hour_before_until_its_end(
    client: Client, moment: datetime, states: list[str]
) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    put_plan(me, path, plan(selma))
    merchant_id = data(me.get("/api/merchants/me"))["id"]
    assert [shift.state for shift in list_at_risk_shifts(merchant_id, moment=moment)] == states


def test_checked_in_person_is_not_at_risk_also_on_a_break(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    now = datetime.now(UTC)
    put_plan(me, path, *(plan(member, now, now + timedelta(hours=2)) for member in (selma, jonas)))
    assert list_at_risk(me, path) == [("Selma", "late"), ("Jonas", "late")]
    start_shift(me, path, selma["shiftCode"])
    assert list_at_risk(me, path) == [("Jonas", "late")]
    data(post_shift(me, path, "checkout", status="on_break", crewMemberId=selma["id"]))
    assert list_at_risk(me, path) == [("Jonas", "late")]
    data(post_shift(me, path, "checkout", status="checked_out", crewMemberId=selma["id"]))
    assert list_at_risk(me, path) == [("Selma", "late"), ("Jonas", "late")]


def test_forgotten_shift_does_not_count_as_checked_in(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    now = datetime.now(UTC)
    put_plan(me, path, plan(selma, now, now + timedelta(hours=2)))
    start_shift(me, path, selma["shiftCode"])
    with transaction() as session:
        session.execute(text("UPDATE shift SET started_at = now() - interval '16 hours', changed_at = started_at"))
    assert list_at_risk(me, path) == [("Selma", "late")]


def test_of_two_plans_for_the_same_version_one_wins(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})

    def send(hour: int) -> tuple[int, str | None]:
        start = START + timedelta(hours=hour)
        body = {"plannedShifts": [plan(selma, start, start + timedelta(hours=1))]}
        response = me.put(f"{path}/planned-shifts", body, headers={"If-Match": '"1"'})
        return (200, None) if response.status_code == 200 else read_error(response)

    outcomes = run_concurrently(8, send)
    assert sorted(outcomes, key=str) == [(200, None), *[(412, "STALE_VERSION")] * 7]
    assert len(data(me.get(f"{path}/planned-shifts"))["plannedShifts"]) == 1


@pytest.mark.control
def test_control_without_the_lock_several_plans_win(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lock of the stall, all read the version before one of them has changed it."""
    monkeypatch.setattr(planned_shifts, "lock_stall_exclusive", read_and_wait(Barrier(4)))
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    body = {"plannedShifts": [plan(selma)]}
    statuses = [
        response.status_code
        for response in run_concurrently(
            4, lambda _: me.put(f"{path}/planned-shifts", body, headers={"If-Match": '"1"'})
        )
    ]
    assert statuses.count(200) > 1


def read_and_wait(barrier: Barrier) -> Callable[[OrmSession, str, str], Stall]:
    def read(_: OrmSession, merchant_id: str, event_id: str) -> Stall:
        stall = get_stall(merchant_id, event_id)
        barrier.wait(timeout=30)
        return stall

    return read
