"""Changing and removing events: versions, ticket types, idempotency keys, and refusals."""

import pytest
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.events import availability
from app.events.models import TicketType
from tests.counting import record_statements
from tests.events.law import assert_law_holds
from tests.factories.events import (
    WEEKEND,
    build_event_body,
    create_organiser_client,
    create_published_event,
    update_event,
)
from tests.http import Client, data, read_error

DAY = {"name": "Day ticket", "priceMinor": 45000, "quantity": 50}


def sell(ticket_type_id: str, count: int) -> bool:
    with transaction() as session:
        return availability.move(session, ticket_type_id, count, source="public", target="sold")


def test_version_is_the_etag_and_protects_changes(client: Client) -> None:
    owner = create_organiser_client(client)
    created = owner.post("/api/events", build_event_body())
    path = f"/api/events/{data(created, 201)['id']}"
    assert created.headers["ETag"] == '"1"' == owner.get(path).headers["ETag"]
    assert owner.with_(If_None_Match='"1"').get(path).status_code == 304
    changed_once = owner.with_(If_Match='"1"').patch(path, {"name": "Second"})
    assert changed_once.headers["ETag"] == '"2"' and data(changed_once)["version"] == 2
    assert read_error(owner.with_(If_Match='"1"').patch(path, {"name": "Third"})) == (412, "STALE_VERSION")
    assert read_error(owner.with_(If_Match='"1"').delete(path)) == (412, "STALE_VERSION")
    assert data(owner.get(path))["name"] == "Second"
    assert data(owner.with_(If_Match='"2"').delete(path))["outcome"] == "deleted"


def test_change_without_effect_keeps_the_version(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    assert update_event(owner, made)["version"] == 1
    assert update_event(owner, made, name=made["name"], ticketTypes=made["ticketTypes"])["version"] == 1
    assert update_event(owner, made, ticketTypes=[{**WEEKEND, "priceMinor": 1}])["version"] == 2
    assert update_event(owner, made, ticketTypes=[{**WEEKEND, "priceMinor": 1, "quantity": 101}])["version"] == 3


def test_selected_fields_come_with_the_id(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    path = f"/api/events/{made['id']}"
    assert data(owner.get(f"{path}?fields=name,city")) == {"id": made["id"], "name": made["name"], "city": "Windhoek"}
    assert read_error(owner.get(f"{path}?fields=secret")) == (422, "VALIDATION_FAILED")
    assert set(data(owner.get(f"{path}/ticket-stats?fields=totals"))) == {"id", "totals"}


def test_idempotency_key_creates_one_event(client: Client) -> None:
    owner = create_organiser_client(client).with_(Idempotency_Key="create-lights")
    sent = build_event_body()
    first, second = owner.post("/api/events", sent), owner.post("/api/events", sent)
    assert data(first, 201)["id"] == data(second, 201)["id"]
    assert second.headers["Idempotent-Replayed"] == "true"
    assert read_error(owner.post("/api/events", build_event_body())) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert len(data(owner.get("/api/events?mine=true"))["events"]) == 1
    in_body = {**build_event_body(), "idempotencyKey": "create-lights-2"}
    other = create_organiser_client(client)
    assert data(other.post("/api/events", in_body), 201) == data(other.post("/api/events", in_body), 201)


def test_ticket_types_are_matched_by_id_and_by_name(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner, ticketTypes=[WEEKEND, DAY])
    weekend, day = made["ticketTypes"]
    again = update_event(owner, made, ticketTypes=[{**DAY, "priceMinor": 5}, {**WEEKEND, "name": "weekend PASS"}])
    assert [ticket_type["id"] for ticket_type in again["ticketTypes"]] == [day["id"], weekend["id"]]
    swapped = update_event(owner, made, ticketTypes=[{**DAY, "id": weekend["id"]}, {**WEEKEND, "id": day["id"]}])
    assert [ticket_type["name"] for ticket_type in swapped["ticketTypes"]] == ["Day ticket", "Weekend pass"]
    assert [ticket_type["id"] for ticket_type in swapped["ticketTypes"]] == [weekend["id"], day["id"]]
    assert [ticket_type["id"] for ticket_type in update_event(owner, made, ticketTypes=[DAY])["ticketTypes"]] == [
        weekend["id"]
    ]


def test_quantity_cannot_fall_below_committed_places(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    weekend = made["ticketTypes"][0]
    assert sell(weekend["id"], 30)
    with transaction() as session:
        assert availability.move(session, weekend["id"], 10, source="public", target="available")
    low = owner.patch(f"/api/events/{made['id']}", {"name": "X Y", "ticketTypes": [{**WEEKEND, "quantity": 39}]})
    assert read_error(low) == (409, "TICKETS_COMMITTED")
    assert low.get_json()["data"] == {"ticketTypeId": weekend["id"], "committed": 40}
    assert data(owner.get(f"/api/events/{made['id']}")) == made
    exact = update_event(owner, made, ticketTypes=[{**WEEKEND, "quantity": 40}])
    assert exact["ticketTypes"][0]["quantity"] == 40
    gone = owner.patch(f"/api/events/{made['id']}", {"ticketTypes": [DAY]})
    assert read_error(gone) == (409, "TICKETS_COMMITTED")
    assert_law_holds()


def test_promo_code_must_name_ticket_types_of_the_event(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner, ticketTypes=[WEEKEND, DAY])
    code = {"code": "A", "percentOff": 5, "ticketTypeIds": [made["ticketTypes"][1]["id"]]}
    assert update_event(owner, made, promoCodes=[code])["promoCodes"] == [code]
    orphaned = owner.patch(f"/api/events/{made['id']}", {"ticketTypes": [WEEKEND]})
    assert read_error(orphaned) == (422, "VALIDATION_FAILED")


def test_event_with_tickets_is_cancelled_instead_of_deleted(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner)
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO ticket (id, event_id, ticket_type_id, reference, price_minor, sold_at, status) "
                "VALUES (:ticket, :event, :type, 'A1', 1, now(), 'refunded')"
            ),
            {"ticket": "0" * 24, "event": made["id"], "type": made["ticketTypes"][0]["id"]},
        )
    path = f"/api/events/{made['id']}"
    assert data(owner.delete(path)) == {"id": made["id"], "outcome": "cancelled"}
    assert data(owner.get(path))["visibility"] == "cancelled"
    assert data(owner.delete(path))["outcome"] == "cancelled"
    assert data(owner.get(path))["version"] == 2


def test_deletion_removes_ticket_types_and_phases(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner, ticketTypes=[{**DAY, "phases": [{"name": "Early", "priceMinor": 1}]}])
    assert data(owner.delete(f"/api/events/{made['id']}"))["outcome"] == "deleted"
    assert db.session.get(TicketType, made["ticketTypes"][0]["id"]) is None
    assert read_error(owner.delete(f"/api/events/{made['id']}")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("size", [1, 10])
def test_number_of_queries_does_not_depend_on_ticket_types(client: Client, size: int) -> None:
    owner = create_organiser_client(client)
    types = [{**DAY, "name": f"Day {n}", "phases": [{"name": "E", "priceMinor": 1}] * 2} for n in range(size)]
    made = create_published_event(owner, ticketTypes=types)

    with record_statements() as seen:
        owner.get(f"/api/events/{made['id']}")
    assert len(seen) == 4, seen
    with record_statements() as seen:
        client.get(f"/api/events/public/{made['id']}")
        client.get(f"/api/events/public/{made['id']}/ticket-inventory")
    assert len(seen) == 2, seen
