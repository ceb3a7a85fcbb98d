"""Quotas of unverified accounts: events, places in blocks, and imports."""

from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import quotas
from app.accounts.models import Account
from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import build_event_body, create_event
from tests.factories.inventory import build_csv
from tests.http import Client, data, read_error
from tests.races import run_concurrently

SHEET = build_csv("BEE-1,Lager,10,1,1,10,0,0")
TYPES = [{"name": "Weekend pass", "priceMinor": 85000, "quantity": 9000}]


@pytest.fixture
def organiser_account(app: Flask) -> Account:
    return create_account("organiser", verified=False)


@pytest.fixture
def owner(client: Client, organiser_account: Account) -> Client:
    return create_signed_in_client(client, organiser_account)


def reserve(owner: Client, new_event: dict[str, Any], quantity: int) -> Any:
    request_body = {"ticketTypeId": new_event["ticketTypes"][0]["id"], "quantity": quantity, "kind": "press"}
    return owner.post(f"/api/events/{new_event['id']}/allocations", request_body)


def verify(organiser_account: Account) -> None:
    with transaction() as session:
        session.execute(
            text("UPDATE account SET email_verified_at = now() WHERE id = :id"), {"id": organiser_account.id}
        )


def test_unverified_organiser_creates_three_events(owner: Client, organiser_account: Account) -> None:
    for _ in range(3):
        create_event(owner)
    refused = owner.post("/api/events", build_event_body())
    assert read_error(refused) == (403, "EMAIL_NOT_VERIFIED")
    assert refused.get_json()["data"] == {"quota": "events", "limit": 3, "used": 3, "requested": 1}
    assert db.session.scalar(text("SELECT count(*) FROM event")) == 3
    verify(organiser_account)
    assert create_event(owner)


def test_a_refused_event_is_not_counted(owner: Client) -> None:
    for _ in range(5):
        assert owner.post("/api/events", build_event_body(endDate="2027-06-01T18:00:00")).status_code == 422
    for _ in range(3):
        create_event(owner)


def test_unverified_organiser_allocates_two_hundred_places(owner: Client, organiser_account: Account) -> None:
    new_event = create_event(owner, ticketTypes=TYPES)
    refused = reserve(owner, new_event, 201)
    assert read_error(refused) == (403, "EMAIL_NOT_VERIFIED")
    assert refused.get_json()["data"] == {"quota": "places", "limit": 200, "used": 0, "requested": 201}
    data(reserve(owner, new_event, 150), 201)
    assert reserve(owner, new_event, 51).get_json()["data"]["used"] == 150
    data(reserve(owner, new_event, 50), 201)
    assert read_error(reserve(owner, new_event, 1)) == (403, "EMAIL_NOT_VERIFIED")
    verify(organiser_account)
    data(reserve(owner, new_event, 1000), 201)


def test_unverified_organiser_imports_ten_files(owner: Client, organiser_account: Account) -> None:
    path = f"/api/events/{create_event(owner)['id']}/inventory/import"

    def import_sheet() -> Any:
        return owner.post(path, data=SHEET, content_type="text/csv", query_string={"dryRun": "true"})

    assert {import_sheet().status_code for _ in range(10)} == {200}
    refused = import_sheet()
    assert read_error(refused) == (403, "EMAIL_NOT_VERIFIED")
    assert refused.get_json()["data"] == {"quota": "imports", "limit": 10, "used": 10, "requested": 1}
    verify(organiser_account)
    assert import_sheet().status_code == 200


def test_replayed_request_counts_once(owner: Client) -> None:
    request_body, client_with_key = build_event_body(), owner.with_(Idempotency_Key="first-event-1")
    assert {client_with_key.post("/api/events", request_body).status_code for _ in range(4)} == {201}
    assert {owner.post("/api/events", build_event_body()).status_code for _ in range(2)} == {201}


def create_concurrently(app: Flask, owner: Client) -> Counter[int]:
    return Counter(
        run_concurrently(
            64, lambda _: Client(app.test_client(), owner.headers).post("/api/events", build_event_body()).status_code
        )
    )


def test_concurrent_requests_create_three_events(app: Flask, owner: Client) -> None:
    assert create_concurrently(app, owner) == {201: 3, 403: 61}


@pytest.mark.control
def test_without_condition_quota_is_exceeded(app: Flask, owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        quotas, "COUNT_USE_SQL", text(quotas.COUNT_USE_SQL.text.replace("<= :limit", "<= :limit OR true"))
    )
    assert create_concurrently(app, owner)[201] > 3
