"""The law of tickets, also when many move them at once; and what happens without the guard."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.events import availability
from tests.events.law import assert_law_holds
from tests.factories.events import WEEKEND, organiser, published
from tests.http import Client, data, refusal
from tests.races import at_once
from tests.unguarded import without

COUNTERS = text("SELECT total, public, sold, oversold FROM ticket_type WHERE id = :id")


def counters(ticket_type_id: str) -> tuple[int, ...]:
    return tuple(db.session.execute(COUNTERS, {"id": ticket_type_id}).one())


def sell(app: Flask, ticket_type_id: str, count: int = 1) -> bool:
    with app.app_context(), transaction() as session:
        return availability.move(session, ticket_type_id, count, source="public", target="sold")


@pytest.fixture
def owner(client: Client) -> Client:
    return organiser(client)


def test_places_move_only_where_there_are_enough(app: Flask, owner: Client) -> None:
    weekend = published(owner)["ticketTypes"][0]["id"]
    with transaction() as session:
        assert availability.move(session, weekend, 60, source="public", target="available")
        assert not availability.move(session, weekend, 41, source="public", target="available")
        assert availability.move(session, weekend, 10, source="available", target="invited")
        assert not availability.move(session, weekend, 51, source="available", target="public")
    assert counters(weekend) == (100, 40, 0, 0)
    assert_law_holds()


def test_what_was_oversold_stays_on_the_totals_side(owner: Client) -> None:
    weekend = published(owner)["ticketTypes"][0]["id"]
    with transaction() as session:
        availability.book_sold(session, weekend, 130)
    assert counters(weekend) == (100, 0, 130, 30)
    with transaction() as session:
        assert availability.set_total(session, weekend, 110)
        assert not availability.set_total(session, weekend, 109)
    assert counters(weekend) == (110, 0, 130, 20)
    with transaction() as session:
        availability.book_sold(session, weekend, -25)
    assert counters(weekend) == (110, 5, 105, 0)
    assert_law_holds()


def test_sixty_four_buyers_of_ten_places_get_ten(app: Flask, owner: Client) -> None:
    weekend = published(owner, ticketTypes=[{**WEEKEND, "quantity": 10}])["ticketTypes"][0]["id"]
    found = at_once(64, lambda _: sell(app, weekend))
    assert sum(found) == 10
    assert counters(weekend) == (10, 0, 10, 0)


@pytest.mark.parametrize("round_", range(3))
def test_a_quantity_that_falls_while_sixty_four_buy_never_falls_below_what_is_sold(
    app: Flask, owner: Client, client: Client, round_: int
) -> None:
    made = published(owner)
    weekend = made["ticketTypes"][0]["id"]

    def one(number: int) -> Any:
        if number % 8 == 0:
            sent = {"ticketTypes": [{**WEEKEND, "quantity": 20 + number // 2}]}
            own = Client(app.test_client(), owner.headers)
            return own.patch(f"/api/events/{made['id']}", sent).status_code
        return sell(app, weekend)

    found = at_once(64, one)
    total, public, sold, oversold = counters(weekend)
    assert sold == sum(item is True for item in found) <= total and oversold == 0 and public == total - sold
    assert {item for item in found if not isinstance(item, bool)} <= {200, 409}
    assert_law_holds()


@pytest.mark.control
def test_without_the_guard_the_same_race_breaks_the_law(app: Flask, owner: Client) -> None:
    """The negative control: reading, deciding and writing sells places that are not there."""
    weekend = published(owner, ticketTypes=[{**WEEKEND, "quantity": 10}])["ticketTypes"][0]["id"]

    def careless(_: int) -> bool:
        with app.app_context():
            free = counters(weekend)[1]
            if free < 1:
                return False
            with transaction() as session:
                session.execute(text("SELECT pg_sleep(0.05)"))
                session.execute(text("UPDATE ticket_type SET sold = sold + 1 WHERE id = :id"), {"id": weekend})
            return True

    with without("ck_ticket_type_public"):
        assert sum(at_once(40, careless)) > 10
        assert counters(weekend)[1] < 0


def test_one_key_makes_one_event_however_many_send_it(app: Flask, owner: Client) -> None:
    sent = {
        "name": "Once",
        "startDate": "2027-06-04",
        "endDate": "2027-06-05",
        "venue": "Here",
        "city": "There",
        "country": "NA",
    }

    def create(_: int) -> Any:
        return Client(app.test_client(), {**owner.headers, "Idempotency-Key": "one-event"}).post("/api/events", sent)

    answers = at_once(12, create)
    ids = {data(response, 201)["id"] for response in answers if response.status_code == 201}
    assert len(ids) == 1
    assert {refusal(response)[1] for response in answers if response.status_code != 201} <= {
        "IDEMPOTENCY_IN_PROGRESS",
        "BUSY",
    }
    assert len(data(owner.get("/api/events?mine=true"))["events"]) == 1


def test_one_of_two_who_saw_the_same_version_is_told_so(app: Flask, owner: Client) -> None:
    made = published(owner)

    def rename(number: int) -> int:
        own = Client(app.test_client(), {**owner.headers, "If-Match": '"1"'})
        return own.patch(f"/api/events/{made['id']}", {"name": f"Name {number}"}).status_code

    assert sorted(at_once(8, rename)) == [200] + [412] * 7
