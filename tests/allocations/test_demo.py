"""Demo blocks: created once, with slots that are invited, claimed and admitted."""

from app.allocations.demo import seed
from app.events.demo import LIGHTS
from app.events.demo import seed as seed_events
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import create_account, create_signed_in_client
from tests.http import Client, data


def test_demo_blocks_are_created_once(client: Client) -> None:
    organiser = create_account("organiser")
    seed_events(organiser.id, LIGHTS)
    assert seed(organiser.id) == 3 and seed(organiser.id) == 0
    own = create_signed_in_client(client, organiser)
    found = {}
    for event in data(own.get("/api/events?mine=true"))["events"]:
        for allocation in data(own.get(f"/api/events/{event['id']}/allocations"))["allocations"]:
            found[allocation["name"]] = (
                allocation["available"],
                allocation["invited"],
                allocation["claimed"],
                allocation["admitted"],
            )
    assert found == {
        "Gold sponsor": (11, 4, 5, 0),
        "Press": (9, 0, 2, 4),
        "Stage sponsor": (7, 0, 0, 3),
    }
    assert_books_agree()
