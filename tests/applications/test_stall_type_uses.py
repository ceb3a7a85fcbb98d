"""A stall type that is in use keeps its name, so that its places count and its waitlist goes on."""

import time
from typing import Any

import pytest
from sqlalchemy import select

from app.applications.actions import submission
from app.events.models import Event
from tests.factories.accounts import create_signed_in_client
from tests.factories.applications import LIST, build_application_body, create_application, decide_application
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants
from tests.http import Client, data, read_error
from tests.races import run_concurrently

FOOD = {"name": "Food", "feeMinor": 150000, "quantity": 1}
CRAFT = {"name": "Craft", "feeMinor": 80000, "quantity": 3}
RENAMED = [{**FOOD, "name": "Food stall"}, CRAFT]
TYPE = {"stallType": "Food", "amountMinor": 150000}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, stallTypes=[FOOD, CRAFT])


def set_types(owner: Client, event: dict[str, Any], stall_types: list[dict[str, Any]] | None) -> Any:
    return owner.patch(f"/api/events/{event['id']}", {"stallTypes": stall_types})


def assert_food_is_used(owner: Client, event: dict[str, Any], uses: int) -> None:
    for stall_types in (RENAMED, [CRAFT], [], None):
        refused = set_types(owner, event, stall_types)
        assert read_error(refused) == (409, "STALL_TYPE_IN_USE")
        assert refused.get_json()["data"] == {"stallTypes": [{"name": "Food", "uses": uses}]}
    assert data(owner.get(f"/api/events/{event['id']}"))["stallTypes"] == [FOOD, CRAFT]


def test_type_of_open_applications_keeps_its_name(client: Client, owner: Client, event: dict[str, Any]) -> None:
    first, second = (create_application(client, eventId=event["id"], **TYPE) for _ in range(2))
    assert_food_is_used(owner, event, 2)
    decide_application(owner, first)
    data(owner.patch(f"{LIST}/{second['id']}", {"decision": "waitlisted"}))
    assert_food_is_used(owner, event, 2)
    data(owner.patch(f"{LIST}/{first['id']}", {"decision": "declined", "reason": "They asked for it"}))
    assert_food_is_used(owner, event, 1)
    data(owner.patch(f"{LIST}/{second['id']}", {"decision": "declined"}))
    assert data(set_types(owner, event, RENAMED))["stallTypes"] == RENAMED


def test_type_of_invitations_and_stalls_keeps_its_name(client: Client, owner: Client, event: dict[str, Any]) -> None:
    merchant = create_merchant_account("Omaere Crafts")
    (invite,) = invite_merchants(owner, event["id"], merchant, stallType="food")["invited"]
    assert_food_is_used(owner, event, 1)
    answer_invitation(create_signed_in_client(client, merchant), invite["inviteId"])
    assert_food_is_used(owner, event, 1)


def test_case_fee_quantity_and_other_types_may_change(client: Client, owner: Client, event: dict[str, Any]) -> None:
    decide_application(owner, create_application(client, eventId=event["id"], **TYPE))
    changed = [{"name": "FOOD", "feeMinor": 1, "quantity": 0}, {"name": "Art", "feeMinor": 0}]
    assert [stall_type["name"] for stall_type in data(set_types(owner, event, changed))["stallTypes"]] == [
        "FOOD",
        "Art",
    ]


def apply_while_renamed(client: Client, owner: Client, event: dict[str, Any]) -> list[int]:
    """The status of an application, and of a change of the list while the application is on its way."""

    def send(number: int) -> int:
        if number:
            time.sleep(0.1)
            return set_types(owner, event, RENAMED).status_code
        return client.post(LIST, build_application_body(eventId=event["id"], **TYPE)).status_code

    return run_concurrently(2, send)


def test_application_and_new_name_at_once_agree(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_stall_types = submission._lock_stall_types

    def lock_and_wait(*arguments: Any) -> Any:
        locked = lock_stall_types(*arguments)
        time.sleep(0.5)
        return locked

    monkeypatch.setattr(submission, "_lock_stall_types", lock_and_wait)
    assert apply_while_renamed(client, owner, event) == [201, 409]


@pytest.mark.control
def test_without_the_lock_an_application_would_lose_its_type(
    client: Client, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_and_wait(session: Any, event_id: str) -> Any:
        stored_types = session.scalar(select(Event.stall_types).where(Event.id == event_id))
        time.sleep(0.5)
        return stored_types

    monkeypatch.setattr(submission, "_lock_stall_types", read_and_wait)
    assert apply_while_renamed(client, owner, event) == [201, 200]
