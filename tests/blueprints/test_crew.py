"""Crew and shifts over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.clock import rfc3339
from app.core.transaction import transaction
from app.crew.jobs import close_forgotten_shifts
from tests.counting import record_statements
from tests.factories.accounts import PASSWORD, run_jobs
from tests.factories.crew import create_stall, load_crew, post_shift, replace_crew, start_shift
from tests.http import Client, data, list_problems, read_error


def execute_sql(statement: str) -> None:
    """Runs a statement that sets times, as if time had passed."""
    with transaction() as session:
        session.execute(text(statement))


def time_ago(**span: float) -> str:
    return rfc3339(datetime.now(UTC) - timedelta(**span))


def test_new_member_gets_a_code_once(client: Client) -> None:
    me, path = create_stall(client)
    assert data(me.get(path))["crew"] == []
    response = me.put(path, {"crew": [{"name": "Selma", "phone": "0811234567", "role": "till"}, {"name": "Jonas"}]})
    members = data(response)["crew"]
    assert [len(member["shiftCode"]) for member in members] == [6, 6] and members[0]["shiftCode"] != members[1][
        "shiftCode"
    ]
    assert members[0]["shiftCodeQr"].startswith("data:image/svg+xml")
    crew_response = me.get(path)
    assert crew_response.headers["ETag"] == response.headers["ETag"]
    assert [member["name"] for member in data(crew_response)["crew"]] == ["Selma", "Jonas"]
    assert all("shiftCode" not in member for member in data(crew_response)["crew"])
    with transaction() as session:
        assert members[0]["shiftCode"] not in str(session.execute(text("SELECT * FROM crew_member")).all())


def test_same_list_again_keeps_the_crew(client: Client) -> None:
    me, path = create_stall(client)
    crew = [{"name": "Selma", "email": "s@example.com"}, {"name": "Jonas"}]
    first = replace_crew(me, path, *crew)
    repeated = replace_crew(me, path, *crew)
    assert [member["id"] for member in repeated] == [member["id"] for member in first]
    assert all("shiftCode" not in member for member in repeated)


def test_code_can_be_rotated_or_set_as_pin(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas", "pin": "4029"})
    assert jonas["shiftCode"] == "4029"
    rotated = replace_crew(
        me, path, {"id": selma["id"], "name": "Selma", "rotateCode": True}, {"id": jonas["id"], "name": "J"}
    )
    assert rotated[0]["shiftCode"] != selma["shiftCode"] and "shiftCode" not in rotated[1]
    assert read_error(post_shift(me, path, "verify", code=selma["shiftCode"])) == (422, "SHIFT_CODE_WRONG")
    assert start_shift(me, path, rotated[0]["shiftCode"])["name"] == "Selma"
    crew_with_taken_pin = [{"id": selma["id"], "name": "Selma", "pin": "4029"}, {"id": jonas["id"], "name": "Jonas"}]
    assert list_problems(me.put(path, {"crew": crew_with_taken_pin})) == {"crew[0].pin": "taken"}


def test_swapped_pins_in_one_list_are_refused(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma", "pin": "4029"}, {"name": "Jonas", "pin": "5138"})
    swapped = [{"id": selma["id"], "name": "Selma", "pin": "5138"}, {"id": jonas["id"], "name": "Jonas", "pin": "4029"}]
    assert list_problems(me.put(path, {"crew": swapped})) == {"crew[0].pin": "taken", "crew[1].pin": "taken"}
    assert start_shift(me, path, "4029")["crewMemberId"] == selma["id"]


def test_returning_member_cannot_take_a_colleagues_pin(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma", "pin": "4029"})
    (jonas,) = replace_crew(me, path, {"name": "Jonas"})
    replace_crew(me, path, {"id": jonas["id"], "name": "Jonas", "pin": "4029"})
    crew = [{"id": jonas["id"], "name": "Jonas"}, {"id": selma["id"], "name": "Selma", "pin": "4029"}]
    assert list_problems(me.put(path, {"crew": crew})) == {"crew[1].pin": "taken"}


def test_invalid_crew_is_refused(client: Client) -> None:
    me, path = create_stall(client)
    assert list_problems(me.put(path)) == {"crew": "required"}
    crew = [{"name": ""}, {"phone": "1"}, {"name": "x", "pin": "12ab", "colour": "red"}]
    assert list_problems(me.put(path, {"crew": crew})) == {
        "crew[0].name": "too_short",
        "crew[1].name": "required",
        "crew[1].phone": "invalid_phone",
        "crew[2].pin": "invalid_pin",
        "crew[2].colour": "unknown_field",
    }
    assert list_problems(me.put(path, {"crew": [{"name": "x"}] * 501})) == {"crew": "too_long"}
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    duplicate_entries = [{"id": selma["id"], "name": "Selma"}] * 2
    assert list_problems(me.put(path, {"crew": duplicate_entries})) == {"crew[1].id": "duplicate"}
    assert list_problems(me.put(path, {"crew": [{"id": "f" * 24, "name": "x"}]})) == {"crew[0].id": "not_found"}


def test_replacing_an_old_version_is_refused(client: Client) -> None:
    me, path = create_stall(client)
    tag = me.get(path).headers["ETag"]
    replace_crew(me, path, {"name": "Selma"})
    assert me.get(path, headers={"If-None-Match": tag}).status_code == 200
    response = me.put(path, {"crew": []}, headers={"If-Match": tag})
    assert read_error(response) == (412, "STALE_VERSION")


def test_other_merchants_stall_is_not_found(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    other, own_path = create_stall(client)
    assert other.put(own_path, {"crew": []}).status_code == 200
    for response in (
        other.get(path),
        other.put(path, {"crew": []}),
        other.get(f"{path}/{selma['id']}/stats"),
        other.get(f"{own_path}/{selma['id']}/stats"),
        post_shift(other, path, "verify", code=selma["shiftCode"]),
        post_shift(other, own_path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"]),
        post_shift(other, own_path, "checkout", status="checked_out", crewMemberId=selma["id"]),
    ):
        assert read_error(response) == (404, "NOT_FOUND")
    assert list_problems(other.put(own_path, {"crew": [{"id": selma["id"], "name": "x"}]})) == {
        "crew[0].id": "not_found"
    }


def test_code_starts_one_shift(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    shift = start_shift(me, path, selma["shiftCode"])
    assert (shift["crewMemberId"], shift["status"], shift["endedAt"]) == (selma["id"], "checked_in", None)
    assert start_shift(me, path, selma["shiftCode"], selma["id"]) == shift
    wrong = post_shift(me, path, "verify", crewMemberId=selma["id"], code=jonas["shiftCode"])
    assert read_error(wrong) == (422, "SHIFT_CODE_WRONG")


def test_repeated_status_changes_nothing(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    start_shift(me, path, selma["shiftCode"])
    for status in ("on_break", "on_break", "checked_in", "checked_in", "checked_out", "checked_out"):
        (shift,) = data(post_shift(me, path, "checkout", status=status, crewMemberId=selma["id"]))["shifts"]
        assert shift["status"] == status
    for status in ("on_break", "checked_in"):
        refused = post_shift(me, path, "checkout", status=status, crewMemberId=selma["id"])
        assert read_error(refused) == (409, "NO_OPEN_SHIFT")
    refused = post_shift(me, path, "checkout", status="checked_out", crewMemberId=jonas["id"])
    assert read_error(refused) == (409, "NO_OPEN_SHIFT")
    assert list_problems(post_shift(me, path, "checkout", status="gone")) == {"status": "unknown_value"}


def test_checkout_without_a_member_applies_to_everybody_at_work(client: Client) -> None:
    me, path = create_stall(client)
    members = replace_crew(me, path, *({"name": f"Member {number}"} for number in range(3)))
    for member in members[:2]:
        start_shift(me, path, member["shiftCode"])
    assert len(data(post_shift(me, path, "checkout", status="on_break"))["shifts"]) == 2
    ended_shifts = data(post_shift(me, path, "checkout", status="checked_out"))["shifts"]
    assert {member["status"] for member in ended_shifts} == {"checked_out"} and len(ended_shifts) == 2
    assert data(post_shift(me, path, "checkout", status="checked_out"))["shifts"] == []


def test_member_with_an_open_shift_cannot_be_removed(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    start_shift(me, path, selma["shiftCode"])
    refused = me.put(path, {"crew": [{"id": jonas["id"], "name": "Jonas"}]})
    assert read_error(refused) == (409, "SHIFT_OPEN")
    assert refused.get_json()["data"]["members"] == [{"id": selma["id"], "name": "Selma"}]
    assert len(data(me.get(path))["crew"]) == 2
    data(post_shift(me, path, "checkout", status="checked_out", crewMemberId=selma["id"]))
    replace_crew(me, path, {"id": jonas["id"], "name": "Jonas"})
    stats = data(me.get(f"{path}/{selma['id']}/stats"))
    assert (stats["active"], stats["shifts"]) == (False, 1)
    assert read_error(post_shift(me, path, "verify", code=selma["shiftCode"])) == (422, "SHIFT_CODE_WRONG")
    returned = replace_crew(me, path, {"id": selma["id"], "name": "Selma"}, {"id": jonas["id"], "name": "Jonas"})
    assert returned[0]["id"] == selma["id"] and start_shift(me, path, returned[0]["shiftCode"])["name"] == "Selma"


def test_five_wrong_codes_lock_for_a_quarter_of_an_hour(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    for _ in range(5):
        assert read_error(post_shift(me, path, "verify", crewMemberId=selma["id"], code="x")) == (
            422,
            "SHIFT_CODE_WRONG",
        )
    response = post_shift(me, path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"])
    assert read_error(response) == (429, "SHIFT_CODE_LOCKED")
    assert 880 < int(response.headers["Retry-After"]) <= 900
    assert start_shift(me, path, jonas["shiftCode"])["name"] == "Jonas"
    execute_sql("UPDATE code_guard SET last_at = last_at - interval '15 minutes'")
    assert start_shift(me, path, selma["shiftCode"], selma["id"])["name"] == "Selma"


def test_right_code_resets_the_count_of_wrong_ones(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    for _ in range(3):
        for _ in range(4):
            assert post_shift(me, path, "verify", code="000").status_code == 422
        start_shift(me, path, selma["shiftCode"])


def test_device_may_send_actions_up_to_twelve_hours_late(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    code, member = selma["shiftCode"], selma["id"]
    assert list_problems(post_shift(me, path, "verify", code=code, occurredAt=time_ago(hours=12, minutes=1))) == {
        "occurredAt": "too_early"
    }
    assert list_problems(post_shift(me, path, "verify", code=code, occurredAt=time_ago(minutes=-5))) == {
        "occurredAt": "too_late"
    }
    data(post_shift(me, path, "verify", code=code, occurredAt=time_ago(hours=5)))
    data(post_shift(me, path, "checkout", status="on_break", crewMemberId=member, occurredAt=time_ago(hours=4)))
    crossing = post_shift(
        me, path, "checkout", status="checked_in", crewMemberId=member, occurredAt=time_ago(hours=4.5)
    )
    assert read_error(crossing) == (409, "SHIFT_TIMES_CROSS")
    data(post_shift(me, path, "checkout", status="checked_in", crewMemberId=member, occurredAt=time_ago(hours=3)))
    data(post_shift(me, path, "checkout", status="checked_out", crewMemberId=member, occurredAt=time_ago(hours=1)))
    stats = data(me.get(f"{path}/{member}/stats"))
    assert (stats["shifts"], stats["workedMinutes"], stats["breakMinutes"]) == (1, 180, 60)
    assert sum(member["workedMinutes"] for member in stats["perDay"]) == 180
    assert read_error(post_shift(me, path, "verify", code=code, occurredAt=time_ago(hours=2))) == (
        409,
        "SHIFT_TIMES_CROSS",
    )


def test_open_shift_counts_until_now(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    data(post_shift(me, path, "verify", code=selma["shiftCode"], occurredAt=time_ago(hours=2)))
    stats = data(me.get(f"{path}/{selma['id']}/stats"))
    assert stats["workedMinutes"] in (119, 120) and stats["openShift"]["status"] == "checked_in"
    assert data(me.get(f"{path}/{load_crew(me, path)[0]['id']}/stats"))["timezone"] == "Africa/Windhoek"


@pytest.mark.parametrize("is_swept", [True, False], ids=["by the job", "on read"])
def test_forgotten_shift_ends_after_sixteen_hours(client: Client, is_swept: bool) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    start_shift(me, path, selma["shiftCode"])
    data(post_shift(me, path, "checkout", status="on_break"))
    execute_sql("UPDATE shift SET started_at = now() - interval '20 hours', break_since = now() - interval '19 hours'")
    if is_swept:
        run_sweep_job()
    stats = data(me.get(f"{path}/{selma['id']}/stats"))
    assert (stats["workedMinutes"], stats["breakMinutes"], stats["automatic"]) == (60, 900, 1)
    assert "openShift" not in stats
    replace_crew(me, path)
    with transaction() as session:
        ended_shifts = session.execute(text("SELECT ended_by FROM shift")).scalar()
    assert ended_shifts == ("auto" if is_swept else None)
    (selma,) = replace_crew(me, path, {"id": selma["id"], "name": "Selma"})
    assert start_shift(me, path, selma["shiftCode"])["status"] == "checked_in"
    assert data(me.get(f"{path}/{selma['id']}/stats"))["shifts"] == 2


def run_sweep_job() -> None:
    """Runs the recurring job as the worker would."""

    class Once:
        def done_in(self, session: Any) -> None:
            """There is no lease in this test."""

    close_forgotten_shifts(Once())  # type: ignore[arg-type]


def test_deletion_of_the_merchant_erases_the_crew(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma", "phone": "0811234567", "email": "selma@example.com"})
    start_shift(me, path, selma["shiftCode"])
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    run_jobs()
    with transaction() as session:
        row = session.execute(text("SELECT name, phone, email, retired_at IS NULL FROM crew_member")).one()
        assert row == ("Former crew", None, None, False)
        assert session.scalar(text("SELECT count(*) FROM shift WHERE ended_at IS NULL")) == 0


def test_no_operation_needs_more_than_six_statements(client: Client) -> None:
    me, path = create_stall(client)
    selma, jonas = replace_crew(me, path, {"name": "Selma"}, {"name": "Jonas"})
    calls: list[Any] = [
        lambda: me.get(path),
        lambda: me.put(path, {"crew": [{"id": selma["id"], "name": "Selma"}, {"name": "Maria"}]}),
        lambda: post_shift(me, path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"]),
        lambda: post_shift(me, path, "checkout", status="on_break"),
        lambda: post_shift(me, path, "checkout", status="checked_out", crewMemberId=selma["id"]),
        lambda: me.get(f"{path}/{selma['id']}/stats"),
    ]
    for call in calls:
        with record_statements() as executed:
            assert call().status_code == 200
        assert len(executed) <= 6, "\n".join(executed)
