"""Promo codes with `maxUses` are limited to so many blocks."""

from collections import Counter
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.events import queries
from tests.factories.events import WEEKEND, create_organiser_client, create_published_event, update_event
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently

USES = text("SELECT count(*) FROM allocation_block WHERE lower(promo_code) = 'sponsor'")


def event_of(owner: Client, max_uses: int | None = 2, **fields: Any) -> dict[str, Any]:
    code = {"code": "SPONSOR", "percentOff": 10, **({} if max_uses is None else {"maxUses": max_uses})}
    return create_published_event(owner, ticketTypes=[{**WEEKEND, "quantity": 500}], promoCodes=[code], **fields)


def ask(owner: Client, event: dict[str, Any], *, code: str | None = "SPONSOR", verb: str = "", **fields: Any) -> Any:
    sent = {"ticketTypeId": event["ticketTypes"][0]["id"], "quantity": 2, "kind": "sponsor", **fields}
    if code:
        sent["promoCode"] = code
    return owner.post(f"/api/events/{event['id']}/allocations{verb}", sent)


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def test_promo_code_is_exhausted_after_max_uses(owner: Client) -> None:
    event = event_of(owner)
    for _ in range(2):
        assert data(ask(owner, event), 201)["totalMinor"] == 2 * 76500
    refused = ask(owner, event)
    assert read_error(refused) == (409, "PROMO_CODE_EXHAUSTED")
    assert refused.get_json()["data"] == {"code": "SPONSOR", "maxUses": 2, "used": 2}
    assert db.session.scalar(USES) == 2
    assert data(ask(owner, event, code=None), 201)["totalMinor"] == 2 * 85000
    assert read_error(ask(owner, event, code="sponsor")) == (409, "PROMO_CODE_EXHAUSTED"), "in any case of letters"


def test_promo_code_without_limit_is_never_exhausted(owner: Client) -> None:
    event = event_of(owner, None)
    assert {ask(owner, event).status_code for _ in range(5)} == {201}
    shown = data(ask(owner, event, verb="/quote"))["promoCode"]
    assert shown == {"code": "SPONSOR", "maxUses": None, "used": 5, "remaining": None}


def test_quote_shows_uses_and_adds_none(owner: Client) -> None:
    event = event_of(owner, 1)
    for _ in range(3):
        quote = data(ask(owner, event, verb="/quote"))
        assert quote["promoCode"] == {"code": "SPONSOR", "maxUses": 1, "used": 0, "remaining": 1}
        assert quote["totalMinor"] == 2 * 76500
    assert data(ask(owner, event), 201)
    quote = data(ask(owner, event, verb="/quote"))
    assert quote["promoCode"] == {"code": "SPONSOR", "maxUses": 1, "used": 1, "remaining": 0}
    assert quote["totalMinor"] == 2 * 85000, "a code that is used up takes nothing off"
    assert data(ask(owner, event, code=None, verb="/quote"))["promoCode"] is None


def test_released_block_keeps_its_use(owner: Client) -> None:
    event = event_of(owner, 1)
    block = data(ask(owner, event), 201)
    path = f"/api/events/{event['id']}/allocations/{block['id']}"
    data(owner.post(f"{path}/release-unused", {}))
    assert read_error(ask(owner, event)) == (409, "PROMO_CODE_EXHAUSTED")


def test_refused_block_uses_no_promo_code(owner: Client) -> None:
    event = event_of(owner, 1, capacity=10)
    assert read_error(ask(owner, event, quantity=11)) == (409, "CAPACITY_EXCEEDED")
    assert read_error(ask(owner, event, quantity=501)) == (409, "INSUFFICIENT_TICKETS")
    assert "releaseAt" in list_problems(ask(owner, event, releaseAt="2020-01-01T00:00:00Z"))
    assert data(ask(owner, event), 201)


def test_replayed_request_uses_the_promo_code_once(owner: Client) -> None:
    event = event_of(owner, 2)
    again = owner.with_(Idempotency_Key="sponsor-block-1")
    first, second = ask(again, event), ask(again, event)
    assert data(first, 201) == data(second, 201)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert data(ask(owner, event), 201)


def test_uses_stay_when_the_codes_of_an_event_are_edited(owner: Client) -> None:
    event = event_of(owner, 1)
    assert data(ask(owner, event), 201)
    update_event(owner, event, promoCodes=[])
    update_event(owner, event, promoCodes=[{"code": "Sponsor", "percentOff": 50, "maxUses": 1}])
    assert read_error(ask(owner, event)) == (409, "PROMO_CODE_EXHAUSTED")
    update_event(owner, event, promoCodes=[{"code": "Sponsor", "percentOff": 50, "maxUses": 2}])
    assert data(ask(owner, event), 201)["totalMinor"] == 85000
    update_event(owner, event, promoCodes=[{"code": "FRIEND", "percentOff": 50, "maxUses": 1}])
    assert data(ask(owner, event, code="FRIEND"), 201)


def test_uses_are_counted_for_each_event(owner: Client) -> None:
    first, second = event_of(owner, 1), event_of(owner, 1)
    assert data(ask(owner, first), 201) and data(ask(owner, second), 201)


def race(app: Flask, owner: Client, event: dict[str, Any], callers: int) -> Counter[int]:
    return Counter(
        run_concurrently(callers, lambda _: int(ask(Client(app.test_client(), owner.headers), event).status_code))
    )


def test_concurrent_blocks_do_not_exceed_max_uses(app: Flask, owner: Client) -> None:
    event = event_of(owner, 5)
    assert race(app, owner, event, 64) == {201: 5, 409: 59}
    assert db.session.scalar(USES) == 5


@pytest.mark.control
def test_promo_code_is_overused_without_the_lock_of_the_event(
    app: Flask, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = event_of(owner, 1)
    monkeypatch.setattr(queries, "lock_event", lambda statement: statement)
    assert race(app, owner, event, 32)[201] > 1
