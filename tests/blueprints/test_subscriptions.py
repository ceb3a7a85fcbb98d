"""Preferences and push devices over HTTP."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.merchants.deletion_hooks import MerchantDeletion
from app.subscriptions import actions
from app.subscriptions.jobs import erase_channels
from app.subscriptions.message_links import UnsubscribeTarget
from tests.counting import count_statements
from tests.factories.accounts import create_account, create_customer, create_signed_in_client
from tests.factories.subscriptions import DEVICES, PREFERENCES, list_devices, list_unsubscriptions, register_device
from tests.http import Client, data, list_problems, read_error

DEFAULT_PREFERENCES = {"email": True, "sms": True, "push": True, "unsubscribedFromAll": False, "unsubscribedFrom": []}
EMAIL = "frieda@guest.example"


@pytest.fixture
def frieda(client: Client) -> Client:
    return create_signed_in_client(client, create_customer(email=EMAIL))


@pytest.fixture
def lights(client: Client) -> str:
    return create_account("organiser", name="Windhoek Lights").id


def load_preferences(client: Client) -> dict[str, Any]:
    preferences = data(client.get(PREFERENCES))
    preferences.pop("version")
    return preferences


def test_default_preferences_allow_all_channels(frieda: Client) -> None:
    assert load_preferences(frieda) == DEFAULT_PREFERENCES


def test_switching_a_channel_keeps_the_others(frieda: Client) -> None:
    assert data(frieda.patch(PREFERENCES, {"sms": False}))["sms"] is False
    assert data(frieda.patch(PREFERENCES, {"push": False}))["push"] is False
    assert load_preferences(frieda) == {**DEFAULT_PREFERENCES, "sms": False, "push": False}
    assert data(frieda.patch(PREFERENCES, {"sms": True}))["sms"] is True
    assert load_preferences(frieda) == {**DEFAULT_PREFERENCES, "push": False}


def test_preferences_belong_to_one_account(frieda: Client, client: Client) -> None:
    data(frieda.patch(PREFERENCES, {"sms": False}))
    assert load_preferences(create_signed_in_client(client, create_customer())) == DEFAULT_PREFERENCES


def test_unsubscribed_organisers_are_listed_and_can_be_resubscribed(frieda: Client, lights: str) -> None:
    other = create_account("organiser", name="Gobabis Fair").id
    for organiser in (lights, other):
        actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser))
    preferences = load_preferences(frieda)["unsubscribedFrom"]
    assert [(item["organiserId"], item["name"]) for item in preferences] == [
        (other, "Gobabis Fair"),
        (lights, "Windhoek Lights"),
    ]
    assert preferences[0]["since"].endswith("Z")
    changed = data(frieda.patch(PREFERENCES, {"resubscribe": [lights, "0" * 24]}))
    assert [item["organiserId"] for item in changed["unsubscribedFrom"]] == [other]


def test_unsubscribe_from_all_and_back(frieda: Client, lights: str) -> None:
    actions.unsubscribe(UnsubscribeTarget(EMAIL, lights))
    for _ in range(2):
        assert data(frieda.patch(PREFERENCES, {"unsubscribedFromAll": True}))["unsubscribedFromAll"] is True
    assert sorted(list_unsubscriptions(), key=str) == sorted([(EMAIL, lights), (EMAIL, None)], key=str)
    changed = data(frieda.patch(PREFERENCES, {"unsubscribedFromAll": False}))
    assert changed["unsubscribedFromAll"] is False and list_unsubscriptions() == [(EMAIL, lights)]


def test_change_with_stale_etag_of_preferences_is_refused(frieda: Client, lights: str) -> None:
    read = frieda.get(PREFERENCES)
    etag = read.headers["ETag"]
    assert etag == f'"{data(read)["version"]}"'
    assert frieda.get(PREFERENCES, headers={"If-None-Match": etag}).status_code == 304
    changed = frieda.patch(PREFERENCES, {"sms": False}, headers={"If-Match": etag})
    assert data(changed)["sms"] is False and changed.headers["ETag"] != etag
    stale = frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": etag})
    assert read_error(stale) == (412, "STALE_VERSION") and load_preferences(frieda)["sms"] is False


def test_etag_differs_after_changing_back_and_forth(frieda: Client) -> None:
    data(frieda.patch(PREFERENCES, {"sms": False}))
    etag = frieda.get(PREFERENCES).headers["ETag"]
    for is_wanted in (True, False):
        data(frieda.patch(PREFERENCES, {"sms": is_wanted}))
    assert read_error(frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": etag})) == (412, "STALE_VERSION")


def test_unsubscribe_link_changes_the_etag(frieda: Client, lights: str) -> None:
    etag = frieda.get(PREFERENCES).headers["ETag"]
    actions.unsubscribe(UnsubscribeTarget(EMAIL, lights))
    assert read_error(frieda.patch(PREFERENCES, {"sms": True}, headers={"If-Match": etag})) == (412, "STALE_VERSION")
    assert frieda.get(PREFERENCES, headers={"If-None-Match": etag}).status_code == 200


def test_response_lists_all_problems(frieda: Client) -> None:
    body = {"email": "yes", "sms": None, "resubscribe": ["x"], "fax": True, "unsubscribedFromAll": 1}
    assert list_problems(frieda.patch(PREFERENCES, body)) == {
        "email": "invalid_type",
        "sms": "required",
        "resubscribe[0]": "invalid_id",
        "fax": "unknown_field",
        "unsubscribedFromAll": "invalid_type",
    }


def test_empty_change_changes_nothing(frieda: Client) -> None:
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
def test_verified_email_is_required(client: Client, method: str, path: str) -> None:
    """Anybody can register with the address of another person."""
    body = {} if method == "PATCH" else {"token": "t", "platform": "ios"} if method == "POST" else {"token": "t"}
    request_body = None if method == "GET" else body
    assert read_error(client.open(method, path, request_body))[0] == 401
    stranger = create_signed_in_client(client, create_customer(verified=False))
    assert read_error(stranger.open(method, path, request_body)) == (403, "EMAIL_NOT_VERIFIED")


def test_device_is_registered_and_updated(frieda: Client) -> None:
    first = register_device(frieda, "token-1", "android")
    assert set(first) == {"id", "platform", "createdAt", "seenAt"} and first["platform"] == "android"
    repeated = register_device(frieda, "token-1", "web")
    assert (repeated["id"], repeated["createdAt"], repeated["platform"]) == (first["id"], first["createdAt"], "web")
    assert repeated["seenAt"] > first["seenAt"] and len(list_devices()) == 1


def test_device_belongs_to_account_that_registered_last(frieda: Client, client: Client) -> None:
    first = register_device(frieda, "shared")
    other = create_customer()
    second = register_device(create_signed_in_client(client, other), "shared")
    assert list_devices() == [(other.id, "shared")]
    assert second["id"] != first["id"] and second["createdAt"] > first["createdAt"]
    assert data(frieda.delete(DEVICES, json={"token": "shared"})) == {"removed": False}
    assert list_devices() == [(other.id, "shared")]


def test_device_removal_may_be_repeated(frieda: Client) -> None:
    register_device(frieda, "token-1")
    results = [data(frieda.delete(DEVICES, json={"token": "token-1"})) for _ in range(2)]
    assert results == [{"removed": True}, {"removed": False}] and list_devices() == []


def test_oldest_device_is_removed_over_limit(frieda: Client) -> None:
    for number in range(20):
        register_device(frieda, f"token-{number:02}")
    register_device(frieda, "token-00")
    register_device(frieda, "token-20")
    assert [token for _, token in list_devices()] == [f"token-{number:02}" for number in range(21) if number != 1]


def test_invalid_device_tokens_are_refused(frieda: Client) -> None:
    for token, code in [
        ("", "too_short"),
        ("x" * 1025, "too_long"),
        ("tökén", "invalid_characters"),
        ("a\nb", "invalid_characters"),
        (7, "invalid_type"),
    ]:
        assert list_problems(frieda.post(DEVICES, {"token": token, "platform": "ios"})) == {"token": code}
    assert list_problems(frieda.post(DEVICES, {"platform": "fax"})) == {
        "token": "required",
        "platform": "unknown_value",
    }
    assert list_problems(frieda.delete(DEVICES, json={})) == {"token": "required"}
    register_device(frieda, "x" * 1024)


def test_deletion_removes_devices_and_preferences_but_not_unsubscriptions(client: Client, lights: str) -> None:
    stall_owner = create_account("merchant", email="stall@kitchen.example")
    merchant = create_signed_in_client(client, stall_owner)
    register_device(merchant, "token-1")
    data(merchant.patch(PREFERENCES, {"sms": False}))
    actions.unsubscribe(UnsubscribeTarget(stall_owner.email, lights))
    with transaction() as session:
        erase_channels(session, MerchantDeletion(stall_owner.id))
    assert len(list_devices()) == 1, "an account with another role keeps its devices"
    with transaction() as session:
        session.execute(text("UPDATE account SET roles = '{}' WHERE id = :id"), {"id": stall_owner.id})
        erase_channels(session, MerchantDeletion(stall_owner.id))
    assert list_devices() == [] and list_unsubscriptions() == [(stall_owner.email, lights)]
    with transaction() as session:
        assert session.execute(text("SELECT count(*) FROM channel_preference")).scalar() == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "max_statements"),
    [
        ("GET", PREFERENCES, None, 2),
        ("PATCH", PREFERENCES, {"sms": False, "unsubscribedFromAll": False, "resubscribe": ["0" * 24]}, 5),
        ("POST", DEVICES, {"token": "token-1", "platform": "ios"}, 4),
        ("DELETE", DEVICES, {"token": "token-1"}, 2),
    ],
)
def test_operations_on_preferences_take_few_statements(
    frieda: Client, method: str, path: str, body: Any, max_statements: int
) -> None:
    headers = {"If-Match": frieda.get(PREFERENCES).headers["ETag"]} if method == "PATCH" else {}
    answer, executed = count_statements(lambda: frieda.open(method, path, body, headers=headers))
    assert answer.status_code in (200, 201) and len(executed) <= max_statements, "\n\n".join(executed)


def test_repeated_device_registration_is_idempotent(frieda: Client) -> None:
    keyed = frieda.with_(Idempotency_Key="the-first-start")
    first, repeated = (keyed.post(DEVICES, {"token": "token-1", "platform": "ios"}) for _ in range(2))
    assert data(first, 201) == data(repeated, 201) and repeated.headers["Idempotent-Replayed"] == "true"
