"""The demo's bar: stocked once, with something to order, something to find missing, and something to be told."""

from app.demo import seed_lights
from app.events.demo import LIGHTS
from app.events.demo import seed as seed_events
from app.inventory.demo import BAR_STOCK
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.inventory import assert_quantities_match_movements
from tests.http import Client, data


def test_a_bar_is_stocked_once(client: Client) -> None:

    owner = create_account("organiser")
    seed_events(owner.id, LIGHTS)
    assert seed_lights(owner.id) and not seed_lights(owner.id)
    own = create_signed_in_client(client, owner)
    festival = data(own.get("/api/events?mine=true&q=windhoek+lights&visibility=published"))["events"][0]
    path = f"/api/events/{festival['id']}/inventory"
    assert len(data(own.get(path))["items"]) == len(BAR_STOCK)
    assert {item["sku"] for item in data(own.get(f"{path}?lowStock=true"))["items"]} == {
        "BEE-002",
        "SOF-002",
        "CON-002",
    }
    assert len(data(own.post(f"{path}/reorder/apply", {"dryRun": True}))["orders"]) == 2
    assert [order["supplier"] for order in data(own.get(f"{path}/orders"))["orders"]] == ["Print House"]
    assert any(item["variance"] < 0 for item in data(own.get(f"{path}/variance"))["items"])
    assert data(own.get(f"{path}/reminder"))["enabled"]
    assert_quantities_match_movements()
