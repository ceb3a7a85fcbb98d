"""The floor status of stalls over HTTP."""

from tests.factories.accounts import PASSWORD, create_signed_in_client
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import answer_invitation, create_merchant_account, create_participant, invite_merchants
from tests.http import Client, data, list_problems, read_error

FLOOR = "/api/merchants/me/pos-floor-status"


def test_floor_status_is_set_for_one_event_or_all(client: Client) -> None:
    owner = create_organiser_client(client)
    first_event, second_event = create_event(owner), create_event(owner)
    me, merchant = create_participant(client, owner, first_event["id"])
    answer_invitation(me, invite_merchants(owner, second_event["id"], merchant)["invited"][0]["inviteId"])
    assert data(me.patch(FLOOR, {"status": "open"}))["eventIds"] == sorted([first_event["id"], second_event["id"]])
    assert data(me.patch(FLOOR, {"status": "busy", "eventId": second_event["id"]}))["eventIds"] == [second_event["id"]]
    status_by_event = {item["id"]: item["floorStatus"] for item in data(me.get("/api/merchants/me/events"))["events"]}
    assert status_by_event == {first_event["id"]: "open", second_event["id"]: "busy"}
    for unknown_event_id in (create_event(owner)["id"], "nonsense"):
        assert read_error(me.patch(FLOOR, {"status": "open", "eventId": unknown_event_id})) == (404, "NOT_FOUND")
    assert list_problems(me.patch(FLOOR, {"status": "gone"})) == {"status": "unknown_value"}


def test_new_stall_starts_with_the_last_floor_status(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    assert data(me.patch(FLOOR, {"status": "busy"})) == {"status": "busy", "eventIds": []}
    answer_invitation(me, invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"])
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "busy"


def test_pause_closes_every_stall_until_it_is_opened_again(client: Client) -> None:
    owner = create_organiser_client(client)
    me, merchant = create_participant(client, owner, create_event(owner)["id"])
    data(me.patch(FLOOR, {"status": "open"}))
    data(me.post("/api/merchants/me/pause"))
    assert read_error(me.patch(FLOOR, {"status": "open"})) == (409, "MERCHANT_PAUSED")
    data(me.patch(FLOOR, {"status": "closed"}))
    data(me.post("/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": "RESUME"}))
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "closed"
    data(me.patch(FLOOR, {"status": "open"}))
    assert data(me.get("/api/merchants/me/events"))["events"][0]["floorStatus"] == "open"
