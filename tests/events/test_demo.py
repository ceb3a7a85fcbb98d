"""Demo events are created once, are public and have sales."""

from app.events.demo import JAZZ, LIGHTS, seed
from tests.events.law import assert_books_agree
from tests.factories.accounts import create_account, create_signed_in_client
from tests.http import Client, data


def test_demo_events_are_created_once(client: Client) -> None:
    organiser = create_account("organiser")
    assert seed(organiser.id, LIGHTS) == 5 and seed(organiser.id, LIGHTS) == 0
    assert seed(organiser.id, JAZZ) == 1
    names = [event["name"] for event in data(client.get("/api/events/public/discover"))["events"]]
    assert names == ["Okahandja Night Market", "Katutura Food Weekend", "Windhoek Lights", "Swakop Jazz Days"]
    own = create_signed_in_client(client, organiser)
    lights = data(own.get("/api/events?mine=true&q=windhoek+lights&visibility=published"))["events"][0]
    stats = data(own.get(f"/api/events/{lights['id']}/ticket-stats"))
    assert stats["totals"]["sold"] == 641 and len(stats["series"]) > 30
    stock = data(client.get(f"/api/events/public/{lights['id']}/ticket-inventory"))["ticketTypes"]
    assert [ticket_type["status"] for ticket_type in stock] == ["on_sale", "on_sale", "low"]
    assert_books_agree()
