"""What happens when everybody presses at once; each guard is taken away once, to see that the test would notice."""

from collections import Counter
from threading import Barrier, Event
from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.crew import actions, shift_codes
from app.crew.stall_access import get_stall as unlocked
from tests.factories.crew import at, put, stall
from tests.http import Client
from tests.races import at_once
from tests.unguarded import without


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def test_thirty_two_verifications_at_once_open_one_shift(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    answers = at_once(32, lambda _: at(me, path, "verify", code=selma["shiftCode"]))
    assert {response.status_code for response in answers} == {200}
    assert len({response.get_json()["data"]["id"] for response in answers}) == 1
    assert count("SELECT count(*) FROM shift") == 1


@pytest.mark.control
def test_without_the_index_there_would_be_several(client: Client) -> None:
    """The statement needs the index; without the unique one, the plain way to write it opens many."""
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    look = "SELECT count(*), pg_sleep(0.05) FROM shift WHERE crew_member_id = :m AND ended_at IS NULL"
    add = "INSERT INTO shift (id, crew_member_id, started_at, changed_at) VALUES (:i, :m, now(), now())"

    def plainly(number: int) -> None:
        with client.flask.application.app_context(), transaction() as session:
            if not session.execute(text(look), {"m": selma["id"]}).scalar():
                session.execute(text(add), {"i": f"{number:024x}", "m": selma["id"]})

    with without("uq_shift_open"):
        at_once(8, plainly)
        assert count("SELECT count(*) FROM shift") > 1


def test_of_thirty_two_wrong_codes_at_once_five_are_looked_at(client: Client) -> None:
    me, path = stall(client)
    put(me, path, {"name": "Selma"})
    answers = Counter(at_once(32, lambda number: at(me, path, "verify", code=f"x{number}").status_code))
    assert answers == {422: 5, 429: 27}


@pytest.mark.control
def test_without_the_guard_all_of_them_would_be(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shift_codes, "MAX_TRIES", 1000)
    me, path = stall(client)
    put(me, path, {"name": "Selma"})
    assert Counter(at_once(16, lambda number: at(me, path, "verify", code=f"x{number}").status_code)) == {422: 16}


def test_checking_out_by_many_at_once_ends_one_break_and_one_shift(client: Client) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    at(me, path, "verify", code=selma["shiftCode"])
    at(me, path, "checkout", status="on_break")
    named = {"crewMemberId": selma["id"]}
    answers = at_once(
        16, lambda number: at(me, path, "checkout", status="checked_out", **(named if number % 2 else {})).status_code
    )
    assert set(answers) == {200}
    assert (count("SELECT count(*) FROM shift_break"), count("SELECT count(ended_at) FROM shift")) == (1, 1)


@pytest.mark.parametrize("round", range(4))
def test_who_verifies_while_the_crew_is_replaced_is_in_the_crew_or_not_at_work(client: Client, round: int) -> None:
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})

    def act(number: int) -> int:
        if number == round:
            return me.put(path, {"crew": []}).status_code
        return at(me, path, "verify", code=selma["shiftCode"]).status_code

    answers = at_once(5, act)
    assert set(answers) <= {200, 409, 422}
    assert (
        count(
            "SELECT count(*) FROM shift s JOIN crew_member c ON c.id = s.crew_member_id WHERE c.retired_at IS NOT NULL"
        )
        == 0
    )
    assert (409 in answers) != (422 in answers)


@pytest.mark.parametrize("guarded", [True, False])
def test_nobody_is_retired_while_he_begins_a_shift_because_the_stall_is_locked(
    client: Client, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """The crew is replaced after the code was looked up and before the shift is written, if nothing holds it back."""
    me, path = stall(client)
    (selma,) = put(me, path, {"name": "Selma"})
    looked, replaced, counting = Event(), Event(), shift_codes.count_try

    def slowly(session: Any, subject: str) -> None:
        looked.set()
        replaced.wait(timeout=1)
        counting(session, subject)

    def act(number: int) -> int:
        if number == 0:
            return at(me, path, "verify", code=selma["shiftCode"]).status_code
        looked.wait(timeout=20)
        status = me.put(path, {"crew": []}).status_code
        replaced.set()
        return status

    monkeypatch.setattr(shift_codes, "count_try", slowly)
    if not guarded:
        monkeypatch.setattr(actions, "lock_stall_shared", lambda session, merchant, event: unlocked(merchant, event))
    assert at_once(2, act) == [200, 409 if guarded else 200]
    at_work_and_retired = "FROM shift s JOIN crew_member c ON c.id = s.crew_member_id WHERE c.retired_at IS NOT NULL"
    assert count(f"SELECT count(*) {at_work_and_retired}") == (0 if guarded else 1)


@pytest.mark.control
def test_without_the_lock_all_lists_would_be_left(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    me, path = stall(client)
    start, known = Barrier(4), actions._load_members

    def together(*arguments: Any) -> Any:
        found = known(*arguments)
        start.wait(timeout=20)
        return found

    monkeypatch.setattr(actions, "lock_stall_exclusive", lambda session, merchant, event: unlocked(merchant, event))
    monkeypatch.setattr(actions, "_load_members", together)
    at_once(4, lambda number: me.put(path, {"crew": [{"name": "ABCD"[number]}]}))
    assert len(me.get(path).get_json()["data"]["crew"]) == 4


def test_two_lists_at_once_leave_one_of_them(client: Client) -> None:
    me, path = stall(client)
    crews = [[{"name": f"{letter}{number}"} for number in range(5)] for letter in "ABCD"]
    assert set(at_once(4, lambda number: me.put(path, {"crew": crews[number]}).status_code)) == {200}
    letters = {item["name"][0] for item in me.get(path).get_json()["data"]["crew"]}
    assert len(letters) == 1 and count("SELECT count(*) FROM crew_member") == 20


def test_of_two_who_read_the_same_crew_one_replaces_it(client: Client) -> None:
    me, path = stall(client)
    tag = me.get(path).headers["ETag"]
    answers = at_once(8, lambda number: me.put(path, {"crew": [{"name": f"N{number}"}]}, headers={"If-Match": tag}))
    assert Counter(response.status_code for response in answers) == {200: 1, 412: 7}
