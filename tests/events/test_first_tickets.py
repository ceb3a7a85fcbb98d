"""The first tickets of a file, which a dry run shows as they will be imported, as far as the caller may see them."""

import io
from typing import Any

import pytest

from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data
from tests.teams.test_api_keys import make_key
from tests.teams.test_hidden_fields import add_member

HEADER = "Nr,Kind,Guest,Mail,Paid,Day,State\n"
ROWS = "".join(f"N{number},Weekend,Zoë,zoe@example.com,850.50,2026-10-01 20:00,sold\n" for number in range(5))
MAPPING = (
    '{"reference": "Nr", "ticketType": "Kind", "name": "Guest", "email": "Mail", "price": "Paid", "soldAt": "Day",'
    ' "status": "State", "secret": "Nr"}'
)


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner)


def send(client: Client, event: dict[str, Any], **form: Any) -> Any:
    fields = {"file": (io.BytesIO((HEADER + ROWS).encode()), "sales.csv"), "mapping": MAPPING, "createTypes": "true"}
    return client.post(f"/api/events/{event['id']}/tickets/import", data={**fields, **form})


def test_a_dry_run_has_the_first_three_tickets(owner: Client, event: dict[str, Any]) -> None:
    first, *others = data(send(owner, event, dryRun="true"))["firstTickets"]
    assert first == {
        "reference": "N0",
        "orderNumber": None,
        "secret": "N0",
        "ticketType": "Weekend",
        "name": "Zoë",
        "email": "zoe@example.com",
        "priceMinor": 85050,
        "soldAt": "2026-10-01T18:00:00.000Z",
    }
    assert [ticket["reference"] for ticket in others] == ["N1", "N2"]
    assert data(send(owner, event))["firstTickets"] == []


def test_callers_see_of_them_what_they_see_of_tickets(client: Client, owner: Client, event: dict[str, Any]) -> None:
    """A key for events reads neither guests nor money, and the number of these tickets is their code."""
    key = client.as_(make_key(owner, "events")["key"])
    tickets = data(send(key, event, dryRun="true"))["firstTickets"]
    assert {
        (it["reference"], it["secret"], it["name"], it["email"], it["priceMinor"], it["ticketType"]) for it in tickets
    } == {(None, None, None, None, None, "Weekend")}
    assert send(add_member(owner, client, "viewer"), event, dryRun="true").status_code == 403
    assert send(create_organiser_client(client), event, dryRun="true").status_code == 404


OWN_HEADER = "reference,ticketType,name,status,secret,orderNumber\n"


def send_own(client: Client, event: dict[str, Any], *rows: str, dry_run: str = "false") -> Any:
    content = OWN_HEADER + "".join(f"{row}\n" for row in rows)
    fields = {"file": (io.BytesIO(content.encode()), "sales.csv"), "createTypes": "true", "dryRun": dry_run}
    return client.post(f"/api/events/{event['id']}/tickets/import", data=fields)


def test_a_code_is_not_shown_as_the_number_of_the_order(client: Client, owner: Client, event: dict[str, Any]) -> None:
    rows = ("A1,Weekend,Zoe A,sold,CODE1,CODE1", "A2,Weekend,Zoe B,sold,CODE2,ORDER2", "A3,Weekend,Zoe C,sold,,ORDER3")
    key, numbers = client.as_(make_key(owner, "events")["key"]), [None, "ORDER2", "ORDER3"]
    first = data(send_own(key, event, *rows, dry_run="true"))["firstTickets"]
    assert [ticket["orderNumber"] for ticket in first] == numbers
    data(send_own(owner, event, *rows))
    path, search = f"/api/events/{event['id']}/tickets", "/api/organisations/me/search?q=Zoe"
    for caller, expected in ((add_member(owner, client, "viewer"), numbers), (owner, ["CODE1", *numbers[1:]])):
        assert [ticket["orderNumber"] for ticket in data(caller.get(path))["tickets"]] == expected
        (group,) = data(caller.get(search))["groups"]
        assert [hit["orderNumber"] for hit in group["hits"]] == expected
        assert len(data(caller.get(f"{path}?q=CODE"))["tickets"]) == len([it for it in expected if it == "CODE1"])


def test_a_key_without_guests_gets_no_names_of_cancelled_tickets(
    client: Client, owner: Client, event: dict[str, Any]
) -> None:
    data(send_own(owner, event, "A1,Weekend,Zoe,sold,CODE1,", "A2,Weekend,Ben,sold,A2,"))
    rows = ("A1,Weekend,Zoe,cancelled,CODE1,", "A2,Weekend,Ben,cancelled,A2,")
    key = client.as_(make_key(owner, "events")["key"])
    tickets = [
        {"reference": "A1", "name": "Zoe", "admitted": False},
        {"reference": "A2", "name": "Ben", "admitted": False},
    ]
    assert data(send_own(owner, event, *rows, dry_run="true"))["cancelledTickets"] == tickets
    masked = [
        {"reference": "A1", "name": None, "admitted": False},
        {"reference": None, "name": None, "admitted": False},
    ]
    assert data(send_own(key, event, *rows, dry_run="true"))["cancelledTickets"] == masked
    assert data(send_own(key, event, *rows))["cancelledTickets"] == masked


def test_a_key_without_codes_is_not_told_whose_code_it_is(client: Client, owner: Client, event: dict[str, Any]) -> None:
    data(send_own(owner, event, "A1,Weekend,Zoe,sold,CODE1,"))
    key = client.as_(make_key(owner, "events")["key"])
    for dry_run in ("true", "false"):
        for caller, ticket in ((owner, "The ticket A1"), (key, "Another ticket")):
            answer = send_own(caller, event, "A9,Weekend,Zoe,sold,CODE1,", dry_run=dry_run).get_json()
            (error,) = answer["data"]["errors"]
            assert error["message"] == f"{ticket} of this event has this secret."
