"""The counters of ticket types add up under concurrent changes; a control shows that the constraint is needed."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.events import availability
from tests.events.law import assert_law_holds
from tests.factories.events import WEEKEND, create_organiser_client, create_published_event
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.unguarded import without_rules

COUNTERS = text("SELECT total, public, sold, oversold FROM ticket_type WHERE id = :id")


def counters(ticket_type_id: str) -> tuple[int, ...]:
    return tuple(db.session.execute(COUNTERS, {"id": ticket_type_id}).one())


def sell(app: Flask, ticket_type_id: str, count: int = 1) -> bool:
    with app.app_context(), transaction() as session:
        return availability.move(session, ticket_type_id, count, source="public", target="sold")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def test_places_move_only_from_a_bucket_with_enough(app: Flask, owner: Client) -> None:
    weekend = create_published_event(owner)["ticketTypes"][0]["id"]
    with transaction() as session:
        assert availability.move(session, weekend, 60, source="public", target="available")
        assert not availability.move(session, weekend, 41, source="public", target="available")
        assert availability.move(session, weekend, 10, source="available", target="invited")
        assert not availability.move(session, weekend, 51, source="available", target="public")
    assert counters(weekend) == (100, 40, 0, 0)
    assert_law_holds()


def test_oversold_places_never_make_public_negative(owner: Client) -> None:
    weekend = create_published_event(owner)["ticketTypes"][0]["id"]
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


def test_sixty_four_buyers_get_ten_of_ten_places(app: Flask, owner: Client) -> None:
    weekend = create_published_event(owner, ticketTypes=[{**WEEKEND, "quantity": 10}])["ticketTypes"][0]["id"]
    results = run_concurrently(64, lambda _: sell(app, weekend))
    assert sum(results) == 10
    assert counters(weekend) == (10, 0, 10, 0)


@pytest.mark.parametrize("round_", range(3))
def test_quantity_never_falls_below_sold_while_sixty_four_buy(
    app: Flask, owner: Client, client: Client, round_: int
) -> None:
    event = create_published_event(owner)
    weekend = event["ticketTypes"][0]["id"]

    def sell_or_reduce(number: int) -> Any:
        if number % 8 == 0:
            changes = {"ticketTypes": [{**WEEKEND, "quantity": 20 + number // 2}]}
            own = Client(app.test_client(), owner.headers)
            return own.patch(f"/api/events/{event['id']}", changes).status_code
        return sell(app, weekend)

    results = run_concurrently(64, sell_or_reduce)
    total, public, sold, oversold = counters(weekend)
    assert sold == sum(result is True for result in results) <= total and oversold == 0 and public == total - sold
    assert {result for result in results if not isinstance(result, bool)} <= {200, 409}
    assert_law_holds()


@pytest.mark.control
def test_without_the_constraint_the_race_sells_too_many(app: Flask, owner: Client) -> None:
    """Negative control: a read followed by a write sells more places than there are."""
    weekend = create_published_event(owner, ticketTypes=[{**WEEKEND, "quantity": 10}])["ticketTypes"][0]["id"]

    def sell_unchecked(_: int) -> bool:
        with app.app_context():
            free = counters(weekend)[1]
            if free < 1:
                return False
            with transaction() as session:
                session.execute(text("SELECT pg_sleep(0.05)"))
                session.execute(text("UPDATE ticket_type SET sold = sold + 1 WHERE id = :id"), {"id": weekend})
            return True

    with without_rules("ck_ticket_type_public"):
        assert sum(run_concurrently(40, sell_unchecked)) > 10
        assert counters(weekend)[1] < 0


def test_concurrent_requests_with_one_idempotency_key_create_one_event(app: Flask, owner: Client) -> None:
    fields = {
        "name": "Once",
        "startDate": "2027-06-04",
        "endDate": "2027-06-05",
        "venue": "Here",
        "city": "There",
        "country": "NA",
    }

    def create(_: int) -> Any:
        return Client(app.test_client(), {**owner.headers, "Idempotency-Key": "one-event"}).post("/api/events", fields)

    responses = run_concurrently(12, create)
    ids = {data(response, 201)["id"] for response in responses if response.status_code == 201}
    assert len(ids) == 1
    assert {read_error(response)[1] for response in responses if response.status_code != 201} <= {
        "IDEMPOTENCY_IN_PROGRESS",
        "BUSY",
    }
    assert len(data(owner.get("/api/events?mine=true"))["events"]) == 1


def test_only_one_change_of_the_same_version_succeeds(app: Flask, owner: Client) -> None:
    event = create_published_event(owner)

    def rename(number: int) -> int:
        own = Client(app.test_client(), {**owner.headers, "If-Match": '"1"'})
        return own.patch(f"/api/events/{event['id']}", {"name": f"Name {number}"}).status_code

    assert sorted(run_concurrently(8, rename)) == [200] + [412] * 7
