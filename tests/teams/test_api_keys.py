"""API keys: scopes, expiry, last use and ending."""

from typing import Any

import pytest

from app.media import actions as media
from tests.blueprints.test_event_covers import picture, upload
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to
from tests.factories.allocations import create_block
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error

KEYS = "/api/organisations/me/api-keys"


def create_owner(client: Client) -> Client:
    return create_signed_in_client(client, create_account("organiser"))


def make_key(owner: Client, *scopes: str, **fields: Any) -> dict[str, Any]:
    return data(owner.post(KEYS, {"name": "Shop", "scopes": list(scopes), "password": PASSWORD, **fields}), 201)


def test_a_key_may_do_what_its_scopes_say(client: Client) -> None:
    owner = create_owner(client)
    event = create_event(owner)
    shop = client.as_(make_key(owner, "events:read")["key"])
    data(shop.get(f"/api/events/{event['id']}"))
    assert read_error(shop.patch(f"/api/events/{event['id']}", {"name": "New"})) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(shop.get(KEYS)) == (403, "ROLE_NOT_ALLOWED")


def test_a_key_is_shown_once_and_stored_as_a_hash(client: Client) -> None:
    owner = create_owner(client)
    made = make_key(owner, "gate")
    assert made["key"].startswith("eck_test_") and made["key"].endswith(made["hint"])
    (listed,) = data(owner.get(KEYS))["apiKeys"]
    assert "key" not in listed and listed["hint"] == made["hint"]
    assert made["key"] not in str(fetch_scalar("SELECT row_to_json(k)::text FROM api_key k"))


def test_a_key_of_another_organisation_reaches_nothing(client: Client) -> None:
    event = create_event(create_owner(client))
    stranger = client.as_(make_key(create_owner(client), "events")["key"])
    assert read_error(stranger.get(f"/api/events/{event['id']}")) == (404, "NOT_FOUND")


def test_an_ended_key_is_refused_at_once(client: Client) -> None:
    owner = create_owner(client)
    made = make_key(owner, "events:read")
    shop = client.as_(made["key"])
    data(shop.get("/api/events?mine=true"))
    for _ in range(2):
        data(owner.delete(f"{KEYS}/{made['id']}"))
    assert read_error(shop.get("/api/events?mine=true")) == (401, "SESSION_ENDED")


def test_a_key_ends_at_its_time(client: Client) -> None:
    owner = create_owner(client)
    made = make_key(owner, "events:read", expiresAt="2999-01-01T00:00:00Z")
    execute_sql("UPDATE api_key SET expires_at = now()")
    assert read_error(client.as_(made["key"]).get("/api/events?mine=true")) == (401, "SESSION_ENDED")


@pytest.mark.parametrize(
    ("fields", "path"),
    [({"scopes": ["everything"]}, "scopes[0]"), ({"scopes": []}, "scopes"), ({"expiresAt": "2020-01-01"}, "expiresAt")],
)
def test_a_wrong_key_is_refused(client: Client, fields: dict[str, Any], path: str) -> None:
    body = {"name": "Shop", "scopes": ["gate"], "password": PASSWORD, **fields}
    refused = create_owner(client).post(KEYS, body)
    assert read_error(refused) == (422, "VALIDATION_FAILED")
    assert [error["path"] for error in refused.get_json()["data"]["errors"]] == [path]


def test_a_key_needs_the_password(client: Client) -> None:
    owner = create_owner(client)
    execute_sql("UPDATE account_session SET created_at = now() - interval '1 hour'")
    body = {"name": "Shop", "scopes": ["gate"]}
    assert read_error(owner.post(KEYS, body)) == (409, "CONFIRMATION_REQUIRED")
    assert read_error(owner.post(KEYS, {**body, "password": "wrong"})) == (422, "CURRENT_PASSWORD_WRONG")


def test_the_owner_is_told_of_a_new_key(client: Client) -> None:
    account = create_account("organiser")
    make_key(create_signed_in_client(client, account), "gate")
    assert "API key" in list_mails_to(account.email)[0]["subject"]


def test_the_last_use_is_recorded(client: Client) -> None:
    owner = create_owner(client)
    made = make_key(owner, "events:read")
    data(client.as_(made["key"]).get("/api/events?mine=true"))
    assert data(owner.get(KEYS))["apiKeys"][0]["lastUsedAt"]


def test_idempotency_keys_of_two_api_keys_do_not_meet(client: Client) -> None:
    owner = create_owner(client)
    event = create_event(owner)
    keys = [client.as_(make_key(owner, "stock")["key"]) for _ in range(2)]
    item = {
        "name": "Lager",
        "parLevel": 1,
        "minOrderQty": 1,
        "reorderLevel": 1,
        "onHand": 1,
        "reserved": 0,
        "damaged": 0,
    }
    for number, key in enumerate(keys):
        headers = {"Idempotency-Key": "same-key-12345"}
        body = {**item, "sku": f"BEE-{number}"}
        data(key.post(f"/api/events/{event['id']}/inventory/items", body, headers=headers), 201)


def test_a_key_that_reads_money_issues_no_invoice(client: Client) -> None:
    block = create_block(client)
    reader = client.as_(make_key(block.owner, "money:read")["key"])
    assert read_error(reader.get(f"{block.path}/invoice.pdf")) == (409, "INVOICE_NOT_ISSUED")
    assert block.owner.get(f"{block.path}/invoice.pdf").status_code == 200
    assert reader.get(f"{block.path}/invoice.pdf").status_code == 200


def test_pictures_of_a_key_do_not_use_up_those_of_the_organisation(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "UPLOADS_PER_DAY", media.Rule("picture-uploads", 1, media.UPLOADS_PER_DAY.window))
    owner = create_organiser_client(client)
    key = client.as_(make_key(owner, "events")["key"])
    for caller in (key, owner):
        data(upload(caller, picture()), 201)
    assert read_error(upload(key, picture())) == (429, "RATE_LIMITED")
