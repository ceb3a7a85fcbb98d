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
