"""Simultaneous requests of a crew. Controls run without the guards."""

from collections import Counter
from threading import Barrier, Event
from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.crew import actions, crew_members
from app.crew.queries import get_stall as get_stall
from tests.factories.crew import create_stall, post_shift, replace_crew
from tests.http import Client
from tests.races import run_concurrently
from tests.unguarded import without_rules


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def test_simultaneous_verifications_open_one_shift(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    responses = run_concurrently(32, lambda _: post_shift(me, path, "verify", code=selma["shiftCode"]))
    assert {response.status_code for response in responses} == {200}
    assert len({response.get_json()["data"]["id"] for response in responses}) == 1
    assert count("SELECT count(*) FROM shift") == 1


TWO_RULES = """
    CREATE FUNCTION slow(value text) RETURNS text IMMUTABLE LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_sleep(0.3); RETURN value; END';
    CREATE INDEX a_slow ON shift (slow(id));
    CREATE UNIQUE INDEX b_of_event ON shift (crew_member_id, event_id) WHERE ended_at IS NULL;
    CREATE UNIQUE INDEX c_of_member ON shift (crew_member_id) WHERE ended_at IS NULL;
"""


def test_a_code_with_and_without_the_member_opens_one_shift_between_two_migrations(client: Client) -> None:
    """Between 0023 and 0024 two unique indexes hold, and an insert names one of them. A conflict in the other is an error,
    which the slow index before them makes certain. The requests count their tries separately, so not that serializes them.
    """
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    bodies = ({"code": selma["shiftCode"]}, {"code": selma["shiftCode"], "crewMemberId": selma["id"]})
    with without_rules("uq_shift_open"):
        with transaction() as session:
            session.execute(text(TWO_RULES))
        try:
            responses = run_concurrently(2, lambda number: post_shift(me, path, "verify", **bodies[number]))
        finally:
            with transaction() as session:
                session.execute(text("DROP INDEX b_of_event, c_of_member, a_slow; DROP FUNCTION slow"))
    assert [response.status_code for response in responses] == [200, 200]
    assert len({response.get_json()["data"]["id"] for response in responses}) == 1


@pytest.mark.control
def test_without_the_index_there_would_be_several_shifts(client: Client) -> None:
    """Without the unique index, a check before the insert opens several shifts."""
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    count_sql = "SELECT count(*), pg_sleep(0.05) FROM shift WHERE crew_member_id = :m AND ended_at IS NULL"
    insert_sql = (
        "INSERT INTO shift (id, crew_member_id, event_id, started_at, changed_at)"
        " SELECT :i, id, event_id, now(), now() FROM crew_member WHERE id = :m"
    )

    def start_shift_without_index(number: int) -> None:
        with client.flask.application.app_context(), transaction() as session:
            if not session.execute(text(count_sql), {"m": selma["id"]}).scalar():
                session.execute(text(insert_sql), {"i": f"{number:024x}", "m": selma["id"]})

    with without_rules("uq_shift_open"):
        run_concurrently(8, start_shift_without_index)
        assert count("SELECT count(*) FROM shift") > 1


def test_five_of_thirty_two_simultaneous_wrong_codes_are_checked(client: Client) -> None:
    me, path = create_stall(client)
    replace_crew(me, path, {"name": "Selma"})
    responses = Counter(
        run_concurrently(32, lambda number: post_shift(me, path, "verify", code=f"x{number}").status_code)
    )
    assert responses == {422: 5, 429: 27}


@pytest.mark.control
def test_without_the_limit_all_wrong_codes_would_be_checked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew_members, "MAX_TRIES", 1000)
    me, path = create_stall(client)
    replace_crew(me, path, {"name": "Selma"})
    assert Counter(
        run_concurrently(16, lambda number: post_shift(me, path, "verify", code=f"x{number}").status_code)
    ) == {422: 16}


def test_simultaneous_checkouts_end_one_break_and_one_shift(client: Client) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    post_shift(me, path, "verify", code=selma["shiftCode"])
    post_shift(me, path, "checkout", status="on_break")
    member = {"crewMemberId": selma["id"]}
    responses = run_concurrently(
        16,
        lambda number: (
            post_shift(me, path, "checkout", status="checked_out", **(member if number % 2 else {})).status_code
        ),
    )
    assert set(responses) == {200}
    assert (count("SELECT count(*) FROM shift_break"), count("SELECT count(ended_at) FROM shift")) == (1, 1)


@pytest.mark.parametrize("round", range(4))
def test_retired_member_has_no_open_shift(client: Client, round: int) -> None:
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})

    def act(number: int) -> int:
        if number == round:
            return me.put(path, {"crew": []}).status_code
        return post_shift(me, path, "verify", code=selma["shiftCode"]).status_code

    responses = run_concurrently(5, act)
    assert set(responses) <= {200, 409, 422}
    assert (
        count(
            "SELECT count(*) FROM shift s JOIN crew_member c ON c.id = s.crew_member_id WHERE c.retired_at IS NOT NULL"
        )
        == 0
    )
    assert (409 in responses) != (422 in responses)


@pytest.mark.parametrize("guarded", [True, False])
def test_stall_lock_prevents_retiring_a_member_who_starts_a_shift(
    client: Client, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Without the lock, the crew is replaced after the code is looked up and before the shift is inserted."""
    me, path = create_stall(client)
    (selma,) = replace_crew(me, path, {"name": "Selma"})
    code_looked_up, crew_replaced, count_try = Event(), Event(), crew_members.count_try

    def count_try_slowly(session: Any, subject: str) -> None:
        code_looked_up.set()
        crew_replaced.wait(timeout=1)
        count_try(session, subject)

    def act(number: int) -> int:
        if number == 0:
            return post_shift(me, path, "verify", code=selma["shiftCode"]).status_code
        code_looked_up.wait(timeout=90)
        status = me.put(path, {"crew": []}).status_code
        crew_replaced.set()
        return status

    monkeypatch.setattr(crew_members, "count_try", count_try_slowly)
    if not guarded:
        monkeypatch.setattr(actions, "lock_stall_shared", lambda session, merchant, event: get_stall(merchant, event))
    assert run_concurrently(2, act) == [200, 409 if guarded else 200]
    at_work_and_retired = "FROM shift s JOIN crew_member c ON c.id = s.crew_member_id WHERE c.retired_at IS NOT NULL"
    assert count(f"SELECT count(*) {at_work_and_retired}") == (0 if guarded else 1)


@pytest.mark.control
def test_without_the_lock_all_lists_would_stay(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    me, path = create_stall(client)
    barrier, load_members = Barrier(4), actions._load_members

    def load_members_together(*arguments: Any) -> Any:
        members = load_members(*arguments)
        barrier.wait(timeout=90)
        return members

    monkeypatch.setattr(actions, "lock_stall_exclusive", lambda session, merchant, event: get_stall(merchant, event))
    monkeypatch.setattr(actions, "_load_members", load_members_together)
    run_concurrently(4, lambda number: me.put(path, {"crew": [{"name": "ABCD"[number]}]}))
    assert len(me.get(path).get_json()["data"]["crew"]) == 4


def test_one_of_several_simultaneous_lists_stays(client: Client) -> None:
    me, path = create_stall(client)
    crews = [[{"name": f"{letter}{number}"} for number in range(5)] for letter in "ABCD"]
    assert set(run_concurrently(4, lambda number: me.put(path, {"crew": crews[number]}).status_code)) == {200}
    initials = {entry["name"][0] for entry in me.get(path).get_json()["data"]["crew"]}
    assert len(initials) == 1 and count("SELECT count(*) FROM crew_member") == 20


def test_only_one_request_replaces_a_version_of_the_crew(client: Client) -> None:
    me, path = create_stall(client)
    tag = me.get(path).headers["ETag"]
    responses = run_concurrently(
        8, lambda number: me.put(path, {"crew": [{"name": f"N{number}"}]}, headers={"If-Match": tag})
    )
    assert Counter(response.status_code for response in responses) == {200: 1, 412: 7}
