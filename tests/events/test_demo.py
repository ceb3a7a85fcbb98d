"""Demo events: made once, found by the public, with sales to look at."""

from app.events.demo import JAZZ, LIGHTS, seed
from tests.events.law import assert_books_agree
from tests.factories.accounts import account, signed_in
from tests.http import Client, data


def test_a_season_is_made_once(client: Client) -> None:
    organiser = account("organiser")
    assert seed(organiser.id, LIGHTS) == 4 and seed(organiser.id, LIGHTS) == 0
    assert seed(organiser.id, JAZZ) == 1
    shown = [event["name"] for event in data(client.get("/api/events/public/discover"))["events"]]
    assert shown == ["Katutura Food Weekend", "Windhoek Lights", "Swakop Jazz Days"]
    own = signed_in(client, organiser)
    lights = data(own.get("/api/events?mine=true&q=windhoek+lights&visibility=published"))["events"][0]
    stats = data(own.get(f"/api/events/{lights['id']}/ticket-stats"))
    assert stats["totals"]["sold"] == 641 and len(stats["series"]) > 30
    stock = data(client.get(f"/api/events/public/{lights['id']}/ticket-inventory"))["ticketTypes"]
    assert [item["status"] for item in stock] == ["on_sale", "on_sale", "low"]
    assert_books_agree()
