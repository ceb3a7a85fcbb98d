"""One's wishes and devices over HTTP."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion
from app.subscriptions import actions
from app.subscriptions.jobs import erase_channels
from app.subscriptions.unsubscribe_links import UnsubscribeTarget
from tests.counting import counted
from tests.factories.accounts import account, customer, signed_in
from tests.factories.subscriptions import DEVICES, PREFERENCES, device, devices, ended
from tests.http import Client, data, problems, refusal

ALL = {"email": True, "sms": True, "push": True, "unsubscribedFromAll": False, "unsubscribedFrom": []}
EMAIL = "frieda@guest.example"


@pytest.fixture
def frieda(client: Client) -> Client:
    return signed_in(client, customer(email=EMAIL))


@pytest.fixture
def lights(client: Client) -> str:
    return account("organiser", name="Windhoek Lights").id


def wishes(client: Client) -> dict[str, Any]:
    found = data(client.get(PREFERENCES))
    found.pop("version")
    return found


def test_who_said_nothing_wants_everything(frieda: Client) -> None:
    assert wishes(frieda) == ALL


def test_a_channel_is_switched_off_and_on_and_the_others_stay(frieda: Client) -> None:
    assert data(frieda.patch(PREFERENCES, {"sms": False}))["sms"] is False
    assert data(frieda.patch(PREFERENCES, {"push": False}))["push"] is False
    assert wishes(frieda) == {**ALL, "sms": False, "push": False}
    assert data(frieda.patch(PREFERENCES, {"sms": True}))["sms"] is True
    assert wishes(frieda) == {**ALL, "push": False}


def test_wishes_are_of_one_account(frieda: Client, client: Client) -> None:
    data(frieda.patch(PREFERENCES, {"sms": False}))
    assert wishes(signed_in(client, customer())) == ALL


def test_who_may_not_write_is_listed_and_may_again(frieda: Client, lights: str) -> None:
    other = account("organiser", name="Gobabis Fair").id
    for organiser in (lights, other):
        actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser))
    found = wishes(frieda)["unsubscribedFrom"]
    assert [(item["organiserId"], item["name"]) for item in found] == [
        (other, "Gobabis Fair"),
        (lights, "Windhoek Lights"),
    ]
    assert found[0]["since"].endswith("Z")
    changed = data(frieda.patch(PREFERENCES, {"resubscribe": [lights, "0" * 24]}))
    assert [item["organiserId"] for item in changed["unsubscribedFrom"]] == [other]


def test_nobody_may_write_until_somebody_may_again(frieda: Client, lights: str) -> None:
    actions.unsubscribe(UnsubscribeTarget(EMAIL, lights))
    for _ in range(2):
        assert data(frieda.patch(PREFERENCES, {"unsubscribedFromAll": True}))["unsubscribedFromAll"] is True
    assert sorted(ended(), key=str) == sorted([(EMAIL, lights), (EMAIL, None)], key=str)
    changed = data(frieda.patch(PREFERENCES, {"unsubscribedFromAll": False}))
    assert changed["unsubscribedFromAll"] is False and ended() == [(EMAIL, lights)]


def test_a_change_needs_the_state_that_was_read(frieda: Client, lights: str) -> None:
    read = frieda.get(PREFERENCES)
    tag = read.headers["ETag"]
    assert tag == f'"{data(read)["version"]}"'
    assert frieda.get(PREFERENCES, headers={"If-None-Match": tag}).status_code == 304
    changed = frieda.patch(PREFERENCES, {"sms": False}, headers={"If-Match": tag})
    assert data(changed)["sms"] is False and changed.headers["ETag"] != tag
    stale = frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": tag})
    assert refusal(stale) == (412, "STALE_VERSION") and wishes(frieda)["sms"] is False


def test_back_and_forth_is_not_as_if_nothing_had_been(frieda: Client) -> None:
    data(frieda.patch(PREFERENCES, {"sms": False}))
    tag = frieda.get(PREFERENCES).headers["ETag"]
    for wanted in (True, False):
        data(frieda.patch(PREFERENCES, {"sms": wanted}))
    assert refusal(frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": tag})) == (412, "STALE_VERSION")


def test_a_link_in_a_mail_changes_what_was_read(frieda: Client, lights: str) -> None:
    tag = frieda.get(PREFERENCES).headers["ETag"]
    actions.unsubscribe(UnsubscribeTarget(EMAIL, lights))
    assert refusal(frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": tag})) == (412, "STALE_VERSION")
    assert frieda.get(PREFERENCES, headers={"If-None-Match": tag}).status_code == 200


def test_all_that_is_wrong_is_told_at_once(frieda: Client) -> None:
    body = {"email": "yes", "sms": None, "resubscribe": ["x"], "fax": True, "unsubscribedFromAll": 1}
    assert problems(frieda.patch(PREFERENCES, body)) == {
        "email": "invalid_type",
        "sms": "required",
        "resubscribe[0]": "invalid_id",
        "fax": "unknown_field",
        "unsubscribedFromAll": "invalid_type",
    }


def test_an_empty_change_changes_nothing(frieda: Client) -> None:
    before = data(frieda.get(PREFERENCES))
    assert data(frieda.patch(PREFERENCES, {})) == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PREFERENCES),
        ("PATCH", PREFERENCES),
        ("POST", DEVICES),
        ("DELETE", DEVICES),
    ],
)
def test_only_the_proven_owner_of_an_address_decides_over_it(client: Client, method: str, path: str) -> None:
    """Anybody can register with somebody else's address."""
    body = {} if method == "PATCH" else {"token": "t", "platform": "ios"} if method == "POST" else {"token": "t"}
    given = None if method == "GET" else body
    assert refusal(client.open(method, path, given))[0] == 401
    stranger = signed_in(client, customer(verified=False))
    assert refusal(stranger.open(method, path, given)) == (403, "EMAIL_NOT_VERIFIED")


def test_a_device_is_registered_and_seen_again(frieda: Client) -> None:
    first = device(frieda, "token-1", "android")
    assert set(first) == {"id", "platform", "createdAt", "seenAt"} and first["platform"] == "android"
    again = device(frieda, "token-1", "web")
    assert (again["id"], again["createdAt"], again["platform"]) == (first["id"], first["createdAt"], "web")
    assert again["seenAt"] > first["seenAt"] and len(devices()) == 1


def test_a_token_is_of_whoever_sent_it_last(frieda: Client, client: Client) -> None:
    first = device(frieda, "shared")
    other = customer()
    second = device(signed_in(client, other), "shared")
    assert devices() == [(other.id, "shared")]
    assert second["id"] != first["id"] and second["createdAt"] > first["createdAt"]
    assert data(frieda.delete(DEVICES, json={"token": "shared"})) == {"removed": False}
    assert devices() == [(other.id, "shared")]


def test_a_device_is_removed_once_and_asked_for_as_often_as_one_likes(frieda: Client) -> None:
    device(frieda, "token-1")
    told = [data(frieda.delete(DEVICES, json={"token": "token-1"})) for _ in range(2)]
    assert told == [{"removed": True}, {"removed": False}] and devices() == []


def test_of_more_than_twenty_those_not_seen_for_longest_go(frieda: Client) -> None:
    for number in range(20):
        device(frieda, f"token-{number:02}")
    device(frieda, "token-00")
    device(frieda, "token-20")
    assert [token for _, token in devices()] == [f"token-{number:02}" for number in range(21) if number != 1]


def test_a_token_is_what_a_push_service_gives(frieda: Client) -> None:
    for wrong, code in [
        ("", "too_short"),
        ("x" * 1025, "too_long"),
        ("tökén", "invalid_characters"),
        ("a\nb", "invalid_characters"),
        (7, "invalid_type"),
    ]:
        assert problems(frieda.post(DEVICES, {"token": wrong, "platform": "ios"})) == {"token": code}
    assert problems(frieda.post(DEVICES, {"platform": "fax"})) == {"token": "required", "platform": "unknown_value"}
    assert problems(frieda.delete(DEVICES, json={})) == {"token": "required"}
    device(frieda, "x" * 1024)


def test_who_goes_takes_devices_and_wishes_along_and_stays_left_alone(client: Client, lights: str) -> None:
    who = account("merchant", email="stall@kitchen.example")
    merchant = signed_in(client, who)
    device(merchant, "token-1")
    data(merchant.patch(PREFERENCES, {"sms": False}))
    actions.unsubscribe(UnsubscribeTarget(who.email, lights))
    with transaction() as session:
        erase_channels(session, MerchantDeletion(who.id))
    assert len(devices()) == 1, "anyone who keeps another role keeps their devices"
    with transaction() as session:
        session.execute(text("UPDATE account SET roles = '{}' WHERE id = :id"), {"id": who.id})
        erase_channels(session, MerchantDeletion(who.id))
    assert devices() == [] and ended() == [(who.email, lights)]
    with transaction() as session:
        assert session.execute(text("SELECT count(*) FROM channel_preference")).scalar() == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "most"),
    [
        ("GET", PREFERENCES, None, 2),
        ("PATCH", PREFERENCES, {"sms": False, "unsubscribedFromAll": False, "resubscribe": ["0" * 24]}, 5),
        ("POST", DEVICES, {"token": "token-1", "platform": "ios"}, 4),
        ("DELETE", DEVICES, {"token": "token-1"}, 2),
    ],
)
def test_each_takes_few_statements(frieda: Client, method: str, path: str, body: Any, most: int) -> None:
    headers = {"If-Match": frieda.get(PREFERENCES).headers["ETag"]} if method == "PATCH" else {}
    answer, asked = counted(lambda: frieda.open(method, path, body, headers=headers))
    assert answer.status_code in (200, 201) and len(asked) <= most, "\n\n".join(asked)


def test_a_registration_that_is_repeated_is_answered_alike(frieda: Client) -> None:
    keyed = frieda.with_(Idempotency_Key="the-first-start")
    first, again = (keyed.post(DEVICES, {"token": "token-1", "platform": "ios"}) for _ in range(2))
    assert data(first, 201) == data(again, 201) and again.headers["Idempotent-Replayed"] == "true"
