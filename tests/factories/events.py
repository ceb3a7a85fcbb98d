"""Events for tests, created over HTTP by an organiser."""

from itertools import count
from typing import Any

from tests.factories.accounts import create_account, create_signed_in_client
from tests.http import Client, data

_numbers = count(1)
WEEKEND = {"name": "Weekend pass", "priceMinor": 85000, "quantity": 100}


def create_organiser_client(client: Client, **details: Any) -> Client:
    """A client signed in as a new organiser."""
    return create_signed_in_client(client, create_account("organiser", **details))


def build_event_body(**fields: Any) -> dict[str, Any]:
    """The body of a new event: the six required fields and these."""
    return {
        "name": f"Windhoek Lights {next(_numbers)}",
        "startDate": "2027-06-04T18:00:00",
        "endDate": "2027-06-06T23:00:00",
        "venue": "River grounds",
        "city": "Windhoek",
        "country": "NA",
        **fields,
    }


def create_event(owner: Client, **fields: Any) -> dict[str, Any]:
    """A new event."""
    return data(owner.post("/api/events", build_event_body(**fields)), 201)


def create_published_event(owner: Client, **fields: Any) -> dict[str, Any]:
    """A new published event with one ticket type by default."""
    return create_event(owner, **{"visibility": "published", "ticketTypes": [WEEKEND], **fields})


def update_event(owner: Client, event_data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Updates the event and returns it."""
    return data(owner.patch(f"/api/events/{event_data['id']}", fields))
