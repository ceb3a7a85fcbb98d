"""Staged release: steps of a block that give unused places back at set times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.allocations.law import assert_books_agree
from tests.allocations.steps import PASS_STEP, pass_step
from tests.factories.accounts import run_jobs
from tests.factories.allocations import Block, create_block
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems

NOON, EVENING = "2027-06-01T10:00:00.000Z", "2027-06-01T17:00:00.000Z"
DAY = timedelta(days=1)


def run_step(made: Block, index: int) -> dict[str, Any]:
    pass_step(made, index)
    run_jobs()
    return made.now()


def test_steps_release_unused_places_once_and_are_shown(client: Client) -> None:
    plan = [{"on": NOON, "quantity": 4}, {"on": EVENING, "percent": 50}]
    made = create_block(client, releasePlan=plan[::-1])
    made.claimed(1)
    made.invite("anna@example.com")
    first, second = made.now()["releasePlan"]
    assert first == {"on": NOON, "quantity": 4, "percent": None, "releasedAt": None, "released": None}
    assert (second["on"], second["percent"]) == (EVENING, 50)
    found = run_step(made, 0)
    assert (found["available"], found["invited"], found["released"]) == (4, 1, 4)
    assert found["releasePlan"][0]["released"] == 4 and found["releasePlan"][0]["releasedAt"] is not None
    assert found["releasePlan"][1]["releasedAt"] is None
    found = run_step(made, 1)
    assert (found["available"], found["invited"], found["released"]) == (1, 1, 7), "half of five, rounded up"
    execute_sql("UPDATE outbox SET state = 'ready', run_at = now() WHERE kind = 'allocations.release_step'")
    run_jobs()
    assert made.now() == found, "a step runs once"
    assert_books_agree()


def test_step_releases_at_most_what_is_unused(client: Client) -> None:
    made = create_block(client, quantity=3, releasePlan=[{"on": NOON, "quantity": 10}])
    made.claimed(2)
    found = run_step(made, 0)
    assert (found["released"], found["releasePlan"][0]["released"], found["claimed"]) == (1, 1, 2)
    assert_books_agree()


def test_step_of_a_block_without_unused_places_releases_none(client: Client) -> None:
    made = create_block(client, quantity=1, releasePlan=[{"on": NOON, "percent": 100}])
    made.claimed(1)
    step = run_step(made, 0)["releasePlan"][0]
    assert step["released"] == 0 and step["releasedAt"] is not None


def test_date_is_the_beginning_of_the_day_where_the_event_is(client: Client) -> None:
    made = create_block(client, releasePlan=[{"on": "2027-06-01", "percent": 100}])
    assert made.now()["releasePlan"][0]["on"] == "2027-05-31T22:00:00.000Z"


def test_all_problems_of_a_plan_are_reported_together(client: Client) -> None:
    made = create_block(client)
    end = datetime.fromisoformat(made.event["endsAt"])
    release_at = (end - DAY).isoformat()
    plan = [
        {"on": "2020-01-01", "quantity": 1},
        {"on": end.isoformat(), "quantity": 1},
        {"on": release_at, "quantity": 1},
        {"on": (end - 2 * DAY).isoformat(), "quantity": 1},
        {"on": (end - 2 * DAY).isoformat(), "percent": 1},
    ]
    sent = {"ticketTypeId": made.ticket_type_id, "quantity": 1, "releaseAt": release_at, "releasePlan": plan}
    problems = {
        "releasePlan[0].on": "in_the_past",
        "releasePlan[1].on": "contradiction",
        "releasePlan[2].on": "contradiction",
        "releasePlan[4].on": "contradiction",
    }
    assert list_problems(made.owner.post(made.events, sent)) == problems
    assert list_problems(made.change(releasePlan=plan, releaseAt=release_at)) == problems
    assert list_problems(made.change(releasePlan=[{"quantity": 1, "percent": 1}, {"on": NOON}])).keys() >= {
        "releasePlan[0].on"
    }
    assert len(list_problems(made.change(releasePlan=[{"on": NOON}]))) == 1
    assert made.now()["releasePlan"] == []


def test_only_steps_to_come_change(client: Client) -> None:
    made = create_block(client, releasePlan=[{"on": NOON, "quantity": 2}, {"on": EVENING, "quantity": 3}])
    ran = run_step(made, 0)["releasePlan"][0]
    later = {"on": (datetime.now(UTC) + DAY).isoformat(), "quantity": 1}
    plan = data(made.change(releasePlan=[later]))["releasePlan"]
    assert plan[0] == ran and [step["quantity"] for step in plan] == [2, 1]
    again = {name: ran[name] for name in ("on", "quantity")}
    execute_sql(PASS_STEP, id=made.id, index="0")
    assert "releasePlan[0].on" in list_problems(made.change(releasePlan=[{**again, "quantity": 9}]))
    assert made.now()["available"] == 8
    execute_sql("UPDATE outbox SET state = 'ready', run_at = now() WHERE kind = 'allocations.release_step'")
    run_jobs()
    assert made.now()["available"] == 8, "the job of a removed step does nothing"
    assert data(made.change(releasePlan=None))["releasePlan"] == [{**ran, "on": made.now()["releasePlan"][0]["on"]}]


def test_release_time_stays_after_the_steps(client: Client) -> None:
    made = create_block(client, releasePlan=[{"on": NOON, "quantity": 2}])
    assert list_problems(made.change(releaseAt=NOON)) == {"releaseAt": "contradiction"}
    found = data(made.change(releaseAt=NOON, releasePlan=[]))
    assert (found["releaseAt"], found["releasePlan"]) == (NOON, [])
