"""Whether a stall is open: over HTTP."""

from tests.factories.accounts import PASSWORD, signed_in
from tests.factories.events import event, organiser
from tests.factories.merchants import answered, invited, merchant_account, participant
from tests.http import Client, data, problems, refusal

FLOOR = "/api/merchants/me/pos-floor-status"


def test_the_floor_status_counts_for_one_event_or_all_and_is_kept(client: Client) -> None:
    owner = organiser(client)
    one, two = event(owner), event(owner)
    me, who = participant(client, owner, one["id"])
    answered(me, invited(owner, two["id"], who)["invited"][0]["inviteId"])
    assert data(me.patch(FLOOR, {"status": "open"}))["eventIds"] == sorted([one["id"], two["id"]])
    assert data(me.patch(FLOOR, {"status": "busy", "eventId": two["id"]}))["eventIds"] == [two["id"]]
    seen = {item["id"]: item["floorStatus"] for item in data(me.get("/api/merchants/me/events"))["events"]}
    assert seen == {one["id"]: "open", two["id"]: "busy"}
    for stranger in (event(owner)["id"], "nonsense"):
        assert refusal(me.patch(FLOOR, {"status": "open", "eventId": stranger})) == (404, "NOT_FOUND")
    assert problems(me.patch(FLOOR, {"status": "gone"})) == {"status": "unknown_value"}


def test_without_an_event_the_floor_status_is_kept_for_the_next(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me = signed_in(client, who)
    assert data(me.patch(FLOOR, {"status": "busy"})) == {"status": "busy", "eventIds": []}
    answered(me, invited(owner, event(owner)["id"], who)["invited"][0]["inviteId"])
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "busy"


def test_a_pause_closes_every_stall_until_it_is_opened_again(client: Client) -> None:
    owner = organiser(client)
    me, who = participant(client, owner, event(owner)["id"])
    data(me.patch(FLOOR, {"status": "open"}))
    data(me.post("/api/merchants/me/pause"))
    assert refusal(me.patch(FLOOR, {"status": "open"})) == (409, "MERCHANT_PAUSED")
    data(me.patch(FLOOR, {"status": "closed"}))
    data(me.post("/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"}))
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "closed"
    data(me.patch(FLOOR, {"status": "open"}))
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "open"
