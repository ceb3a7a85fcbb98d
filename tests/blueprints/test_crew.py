"""Crew and shifts over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.clock import rfc3339
from app.core.transaction import transaction
from app.crew.jobs import close_forgotten_shifts
from tests.counting import statements
from tests.factories.accounts import PASSWORD, deliver
from tests.factories.crew import at, crew_of, put, stall, verify
from tests.http import Client, data, problems, refusal


def later(statement: str) -> None:
    """Changes what only time changes."""
    with transaction() as session:
        session.execute(text(statement))


def ago(**span: float) -> str:
    return rfc3339(datetime.now(UTC) - timedelta(**span))


def test_each_new_member_gets_a_code_once(client: Client) -> None:
    me, path = stall(client)
    assert data(me.get(path))["crew"] == []
    answer = me.put(path, {"crew": [{"name": "Selma", "phone": "0811234567", "role": "till"}, {"name": "Jonas"}]})
    made = data(answer)["crew"]
    assert [len(item["shiftCode"]) for item in made] == [6, 6] and made[0]["shiftCode"] != made[1]["shiftCode"]
    assert made[0]["shiftCodeQr"].startswith("data:image/svg+xml")
    shown = me.get(path)
    assert shown.headers["ETag"] == answer.headers["ETag"]
    assert [item["name"] for item in data(shown)["crew"]] == ["Selma", "Jonas"]
    assert all("shiftCode" not in item for item in data(shown)["crew"])
    with transaction() as session:
        assert made[0]["shiftCode"] not in str(session.execute(text("SELECT * FROM crew_member")).all())


def test_the_same_list_twice_is_the_same_crew(client: Client) -> None:
    me, path = stall(client)
    crew = [{"name": "Selma", "email": "s@example.com"}, {"name": "Jonas"}]
    first = put(me, path, *crew)
    again = put(me, path, *crew)
    assert [item["id"] for item in again] == [item["id"] for item in first]
    assert all("shiftCode" not in item for item in again)


def test_a_code_can_be_new_and_a_pin_ones_own(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas", "pin": "4029"})
    assert jonas["shiftCode"] == "4029"
    rotated = put(me, path, {"id": selma["id"], "name": "Selma", "rotateCode": True}, {"id": jonas["id"], "name": "J"})
    assert rotated[0]["shiftCode"] != selma["shiftCode"] and "shiftCode" not in rotated[1]
    assert refusal(at(me, path, "verify", code=selma["shiftCode"])) == (422, "SHIFT_CODE_WRONG")
    assert verify(me, path, rotated[0]["shiftCode"])["name"] == "Selma"
    taken = [{"id": selma["id"], "name": "Selma", "pin": "4029"}, {"id": jonas["id"], "name": "Jonas"}]
    assert problems(me.put(path, {"crew": taken})) == {"crew[0].pin": "taken"}


def test_pins_that_are_swapped_in_one_list_are_taken(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma", "pin": "4029"}, {"name": "Jonas", "pin": "5138"})
    swapped = [{"id": selma["id"], "name": "Selma", "pin": "5138"}, {"id": jonas["id"], "name": "Jonas", "pin": "4029"}]
    assert problems(me.put(path, {"crew": swapped})) == {"crew[0].pin": "taken", "crew[1].pin": "taken"}
    assert verify(me, path, "4029")["crewMemberId"] == selma["id"]


def test_who_returns_with_a_pin_that_a_colleague_has_now_is_told_so(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma", "pin": "4029"})
    (jonas,) = put(me, path, {"name": "Jonas"})
    put(me, path, {"id": jonas["id"], "name": "Jonas", "pin": "4029"})
    crew = [{"id": jonas["id"], "name": "Jonas"}, {"id": selma["id"], "name": "Selma", "pin": "4029"}]
    assert problems(me.put(path, {"crew": crew})) == {"crew[1].pin": "taken"}


def test_what_a_crew_may_be_is_bounded(client: Client) -> None:
    me, path = stall(client)
    assert problems(me.put(path)) == {"crew": "required"}
    crew = [{"name": ""}, {"phone": "1"}, {"name": "x", "pin": "12ab", "colour": "red"}]
    assert problems(me.put(path, {"crew": crew})) == {
        "crew[0].name": "too_short",
        "crew[1].name": "required",
        "crew[1].phone": "invalid_phone",
        "crew[2].pin": "invalid_pin",
        "crew[2].colour": "unknown_field",
    }
    assert problems(me.put(path, {"crew": [{"name": "x"}] * 501})) == {"crew": "too_long"}
    (selma,) = put(me, path, {"name": "Selma"})
    twice = [{"id": selma["id"], "name": "Selma"}] * 2
    assert problems(me.put(path, {"crew": twice})) == {"crew[1].id": "duplicate"}
    assert problems(me.put(path, {"crew": [{"id": "f" * 24, "name": "x"}]})) == {"crew[0].id": "not_found"}


def test_replacing_what_has_changed_meanwhile_is_refused(client: Client) -> None:
    me, path = stall(client)
    tag = me.get(path).headers["ETag"]
    put(me, path, {"name": "Selma"})
    assert me.get(path, headers={"If-None-Match": tag}).status_code == 200
    stale = me.put(path, {"crew": []}, headers={"If-Match": tag})
    assert refusal(stale) == (412, "STALE_VERSION")


def test_somebody_elses_stall_does_not_exist(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    other, own_path = stall(client)
    assert other.put(own_path, {"crew": []}).status_code == 200
    for answer in (
        other.get(path),
        other.put(path, {"crew": []}),
        other.get(f"{path}/{selma['id']}/stats"),
        other.get(f"{own_path}/{selma['id']}/stats"),
        at(other, path, "verify", code=selma["shiftCode"]),
        at(other, own_path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"]),
        at(other, own_path, "checkout", status="checked_out", crewMemberId=selma["id"]),
    ):
        assert refusal(answer) == (404, "NOT_FOUND")
    assert problems(other.put(own_path, {"crew": [{"id": selma["id"], "name": "x"}]})) == {"crew[0].id": "not_found"}


def test_a_shift_begins_with_its_code_and_is_begun_once(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas"})
    shift = verify(me, path, selma["shiftCode"])
    assert (shift["crewMemberId"], shift["status"], shift["endedAt"]) == (selma["id"], "checked_in", None)
    assert verify(me, path, selma["shiftCode"], selma["id"]) == shift
    wrong = at(me, path, "verify", crewMemberId=selma["id"], code=jonas["shiftCode"])
    assert refusal(wrong) == (422, "SHIFT_CODE_WRONG")


def test_breaks_and_the_end_and_everything_twice(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas"})
    verify(me, path, selma["shiftCode"])
    for status in ("on_break", "on_break", "checked_in", "checked_in", "checked_out", "checked_out"):
        (shift,) = data(at(me, path, "checkout", status=status, crewMemberId=selma["id"]))["shifts"]
        assert shift["status"] == status
    for status in ("on_break", "checked_in"):
        refused = at(me, path, "checkout", status=status, crewMemberId=selma["id"])
        assert refusal(refused) == (409, "NO_OPEN_SHIFT")
    never = at(me, path, "checkout", status="checked_out", crewMemberId=jonas["id"])
    assert refusal(never) == (409, "NO_OPEN_SHIFT")
    assert problems(at(me, path, "checkout", status="gone")) == {"status": "unknown_value"}


def test_without_a_member_it_is_about_everybody_at_work(client: Client) -> None:
    me, path = stall(client)
    made = put(me, path, *({"name": f"Member {number}"} for number in range(3)))
    for item in made[:2]:
        verify(me, path, item["shiftCode"])
    assert len(data(at(me, path, "checkout", status="on_break"))["shifts"]) == 2
    ended = data(at(me, path, "checkout", status="checked_out"))["shifts"]
    assert {item["status"] for item in ended} == {"checked_out"} and len(ended) == 2
    assert data(at(me, path, "checkout", status="checked_out"))["shifts"] == []


def test_a_crew_that_would_leave_somebody_at_work_behind_is_refused(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas"})
    verify(me, path, selma["shiftCode"])
    refused = me.put(path, {"crew": [{"id": jonas["id"], "name": "Jonas"}]})
    assert refusal(refused) == (409, "SHIFT_OPEN")
    assert refused.get_json()["data"]["members"] == [{"id": selma["id"], "name": "Selma"}]
    assert len(data(me.get(path))["crew"]) == 2
    data(at(me, path, "checkout", status="checked_out", crewMemberId=selma["id"]))
    put(me, path, {"id": jonas["id"], "name": "Jonas"})
    kept = data(me.get(f"{path}/{selma['id']}/stats"))
    assert (kept["active"], kept["shifts"]) == (False, 1)
    assert refusal(at(me, path, "verify", code=selma["shiftCode"])) == (422, "SHIFT_CODE_WRONG")
    back = put(me, path, {"id": selma["id"], "name": "Selma"}, {"id": jonas["id"], "name": "Jonas"})
    assert back[0]["id"] == selma["id"] and verify(me, path, back[0]["shiftCode"])["name"] == "Selma"


def test_five_wrong_codes_lock_for_a_quarter_of_an_hour(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas"})
    for _ in range(5):
        assert refusal(at(me, path, "verify", crewMemberId=selma["id"], code="x")) == (422, "SHIFT_CODE_WRONG")
    locked = at(me, path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"])
    assert refusal(locked) == (429, "SHIFT_CODE_LOCKED")
    assert 880 < int(locked.headers["Retry-After"]) <= 900
    assert verify(me, path, jonas["shiftCode"])["name"] == "Jonas"
    later("UPDATE code_guard SET last_at = last_at - interval '15 minutes'")
    assert verify(me, path, selma["shiftCode"], selma["id"])["name"] == "Selma"


def test_a_right_code_forgets_the_wrong_ones(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    for _ in range(3):
        for _ in range(4):
            assert at(me, path, "verify", code="000").status_code == 422
        verify(me, path, selma["shiftCode"])


def test_a_device_without_a_network_tells_later_what_happened(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    code, member = selma["shiftCode"], selma["id"]
    assert problems(at(me, path, "verify", code=code, occurredAt=ago(hours=12, minutes=1))) == {
        "occurredAt": "too_early"
    }
    assert problems(at(me, path, "verify", code=code, occurredAt=ago(minutes=-5))) == {"occurredAt": "too_late"}
    data(at(me, path, "verify", code=code, occurredAt=ago(hours=5)))
    data(at(me, path, "checkout", status="on_break", crewMemberId=member, occurredAt=ago(hours=4)))
    crossing = at(me, path, "checkout", status="checked_in", crewMemberId=member, occurredAt=ago(hours=4.5))
    assert refusal(crossing) == (409, "SHIFT_TIMES_CROSS")
    data(at(me, path, "checkout", status="checked_in", crewMemberId=member, occurredAt=ago(hours=3)))
    data(at(me, path, "checkout", status="checked_out", crewMemberId=member, occurredAt=ago(hours=1)))
    stats = data(me.get(f"{path}/{member}/stats"))
    assert (stats["shifts"], stats["workedMinutes"], stats["breakMinutes"]) == (1, 180, 60)
    assert sum(item["workedMinutes"] for item in stats["perDay"]) == 180
    assert refusal(at(me, path, "verify", code=code, occurredAt=ago(hours=2))) == (409, "SHIFT_TIMES_CROSS")


def test_an_open_shift_counts_until_now(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    data(at(me, path, "verify", code=selma["shiftCode"], occurredAt=ago(hours=2)))
    stats = data(me.get(f"{path}/{selma['id']}/stats"))
    assert stats["workedMinutes"] in (119, 120) and stats["openShift"]["status"] == "checked_in"
    assert data(me.get(f"{path}/{crew_of(me, path)[0]['id']}/stats"))["timezone"] == "Africa/Windhoek"


@pytest.mark.parametrize("swept", [True, False], ids=["by the job", "on read"])
def test_a_shift_that_nobody_ended_ends_after_sixteen_hours(client: Client, swept: bool) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    verify(me, path, selma["shiftCode"])
    data(at(me, path, "checkout", status="on_break"))
    later("UPDATE shift SET started_at = now() - interval '20 hours', break_since = now() - interval '19 hours'")
    if swept:
        swept_by_the_job()
    stats = data(me.get(f"{path}/{selma['id']}/stats"))
    assert (stats["workedMinutes"], stats["breakMinutes"], stats["automatic"]) == (60, 900, 1)
    assert "openShift" not in stats
    put(me, path)
    with transaction() as session:
        ended = session.execute(text("SELECT ended_by FROM shift")).scalar()
    assert ended == ("auto" if swept else None)
    (selma,) = put(me, path, {"id": selma["id"], "name": "Selma"})
    assert verify(me, path, selma["shiftCode"])["status"] == "checked_in"
    assert data(me.get(f"{path}/{selma['id']}/stats"))["shifts"] == 2


def swept_by_the_job() -> None:
    """Runs the recurring job as the worker would."""

    class Once:
        def done_in(self, session: Any) -> None:
            """Nobody holds a lease here."""

    close_forgotten_shifts(Once())  # type: ignore[arg-type]


def test_a_deleted_merchants_crew_is_nobody(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma", "phone": "0811234567", "email": "selma@example.com"})
    verify(me, path, selma["shiftCode"])
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    deliver()
    with transaction() as session:
        row = session.execute(text("SELECT name, phone, email, retired_at IS NULL FROM crew_member")).one()
        assert row == ("Former crew", None, None, False)
        assert session.scalar(text("SELECT count(*) FROM shift WHERE ended_at IS NULL")) == 0


def test_no_operation_asks_more_than_six_times(client: Client) -> None:
    me, path = stall(client)
    selma, jonas = put(me, path, {"name": "Selma"}, {"name": "Jonas"})
    asked: list[Any] = [
        lambda: me.get(path),
        lambda: me.put(path, {"crew": [{"id": selma["id"], "name": "Selma"}, {"name": "Maria"}]}),
        lambda: at(me, path, "verify", crewMemberId=selma["id"], code=selma["shiftCode"]),
        lambda: at(me, path, "checkout", status="on_break"),
        lambda: at(me, path, "checkout", status="checked_out", crewMemberId=selma["id"]),
        lambda: me.get(f"{path}/{selma['id']}/stats"),
    ]
    for ask in asked:
        with statements() as seen:
            assert ask().status_code == 200
        assert len(seen) <= 6, "\n".join(seen)
