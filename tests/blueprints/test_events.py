"""Events, as organisers and the public see them."""

from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data


def test_event_is_created_published_and_found_with_its_tickets(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_published_event(owner, name="Windhoek Lights")
    assert made["visibility"] == "published" and made["startsAt"] == "2027-06-04T16:00:00.000Z"
    found = data(client.get("/api/events/public/discover?q=wind"))
    assert found["events"] == [
        {
            "id": made["id"],
            "name": "Windhoek Lights",
            "city": "Windhoek",
            "venue": "River grounds",
            "startsAt": "2027-06-04T16:00:00.000Z",
            "coverImageUrl": "",
            "isCashless": False,
        }
    ]
    assert data(client.get(f"/api/events/public/{made['id']}"))["ticketTypes"][0]["priceMinor"] == 85000
    stock = data(client.get(f"/api/events/public/{made['id']}/ticket-inventory"))["ticketTypes"][0]
    assert (stock["total"], stock["available"], stock["status"]) == (100, 100, "on_sale")
    assert data(owner.get(f"/api/events/{made['id']}"))["version"] == 1
    assert data(owner.get("/api/events?mine=true"))["events"][0]["id"] == made["id"]
    assert data(client.get("/api/events"))["events"][0]["version"] == 1
    assert data(owner.get(f"/api/events/{made['id']}/ticket-stats"))["totals"]["total"] == 100
    assert data(owner.delete(f"/api/events/{made['id']}")) == {"id": made["id"], "outcome": "deleted"}
    assert data(client.get("/api/events/public/discover"))["events"] == []
