"""A holder hands out places to a list of guests, over HTTP."""

from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.counting import count_statements
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, create_another_block, create_block
from tests.factories.events import update_event
from tests.http import Client, data, list_problems, read_error

ANNA = {"name": "Anna", "email": "anna@example.com"}
BEN = {"name": "Ben", "delivery": "will_call"}
PARTY = {"name": "Ras Sheehama", "delivery": "will_call", "quantity": 3}


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client)


@pytest.fixture
def path(block: Block) -> str:
    return f"/api/allocations/allocator/{block.allocator()}"


def hand_out(client: Client, path: str, *recipients: dict[str, Any], **body: Any) -> Any:
    return client.post(f"{path}/guests", {"recipients": recipients, **body})


def test_all_guests_have_their_places_at_once(client: Client, block: Block, path: str) -> None:
    handed_out = data(hand_out(client, path, ANNA, BEN, PARTY))
    assert (handed_out["available"], handed_out["duplicates"], handed_out["dryRun"]) == (5, [], False)
    slots = {slot["id"]: slot for slot in data(client.get(path))["slots"]}
    (anna,), (ben, party) = handed_out["mailed"], handed_out["listed"]
    assert anna == {**ANNA, "slotId": anna["slotId"]} and ben["quantity"] == 1 and party["quantity"] == 3
    shown = [(slots[guest["slotId"]]["delivery"], slots[guest["slotId"]]["partySize"]) for guest in (anna, ben, party)]
    assert shown == [("e_ticket", 1), ("will_call", 1), ("will_call", 3)] and len(slots) == 5
    assert sum(slot["partyId"] == party["slotId"] for slot in slots.values()) == 3
    assert len({slot["code"] for slot in slots.values()}) == 5
    (mail,) = list_mails_to("anna@example.com")
    assert slots[anna["slotId"]]["code"] in mail["text"]
    assert {slot["via"] for slot in block.now(status="claimed")["slots"]} == {"allocator"}
    assert data(block.admit(party["slotId"], count=3))["count"] == 3
    assert_books_agree()


def test_a_guest_for_the_gate_gets_no_mail_though_they_have_an_address(client: Client, block: Block, path: str) -> None:
    handed_out = data(hand_out(client, path, {**BEN, "email": "ben@example.com", "phone": "+264811234567"}))
    (ben,) = handed_out["listed"]
    assert handed_out["mailed"] == [] and list_mails_to("ben@example.com") == []
    (slot,) = data(block.owner.get(f"{block.events}/will-call?q=ben@example.com"))["slots"]
    assert (slot["slotId"], slot["phone"], slot["delivery"]) == (ben["slotId"], "+264811234567", "will_call")
    again = data(hand_out(client, path, {**ANNA, "email": "ben@example.com"}))
    assert [guest["reason"] for guest in again["duplicates"]] == ["ALREADY_INVITED"]


def test_a_dry_run_changes_nothing(client: Client, block: Block, path: str) -> None:
    handed_out = data(hand_out(client, path, ANNA, PARTY, dryRun=True))
    assert handed_out == {
        "mailed": [ANNA],
        "listed": [{"name": "Ras Sheehama", "email": None, "quantity": 3}],
        "duplicates": [],
        "available": 6,
        "dryRun": True,
    }
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []


def test_places_by_the_link_are_duplicates_and_those_of_the_organiser_are_not(
    client: Client, block: Block, path: str
) -> None:
    """The holder does not learn whom the organiser has invited."""
    block.invite("anna@example.com")
    data(block.post("invite", recipients=[BEN]), 201)
    assert data(hand_out(client, path, ANNA, BEN))["duplicates"] == []
    again = data(hand_out(client, path, {**ANNA, "email": "ANNA@example.com"}, {**BEN, "name": "BEN"}, PARTY, PARTY))
    assert [(guest["name"], guest["reason"]) for guest in again["duplicates"]] == [
        ("Anna", "ALREADY_INVITED"),
        ("BEN", "ALREADY_INVITED"),
        ("Ras Sheehama", "LISTED_TWICE"),
    ]
    assert again["mailed"] == [] and len(again["listed"]) == 1
    assert len(data(hand_out(client, path, ANNA, allowDuplicates=True))["mailed"]) == 1
    assert data(block.post("invite", recipients=[ANNA]), 201)["duplicates"][0]["reason"] == "ALREADY_INVITED"
    assert_books_agree()


def test_a_place_that_was_taken_back_is_handed_out_again(client: Client, path: str) -> None:
    (guest,) = data(hand_out(client, path, ANNA))["mailed"]
    data(client.post(path, {"slotId": guest["slotId"], "action": "take_back"}))
    assert len(data(hand_out(client, path, ANNA))["mailed"]) == 1
    assert data(client.get(path))["available"] == 9


def test_too_few_places_are_refused_for_all(client: Client, block: Block, path: str) -> None:
    response = hand_out(client, path, ANNA, {**PARTY, "quantity": 10})
    assert read_error(response) == (409, "INSUFFICIENT_SLOTS")
    assert response.get_json()["data"] == {"available": 10, "requested": 11}
    assert block.now()["available"] == 10 and list_mails_to("anna@example.com") == []
    data(hand_out(client, path, ANNA, {**PARTY, "quantity": 9}))
    assert block.now()["available"] == 0
    assert_books_agree()


def test_a_repeated_request_hands_out_once(client: Client, block: Block, path: str) -> None:
    repeated = client.with_(Idempotency_Key="the-list-of-today")
    first, second = (hand_out(repeated, path, ANNA, BEN, allowDuplicates=True) for _ in range(2))
    assert data(first) == data(second) and second.headers["Idempotent-Replayed"] == "true"
    assert block.now()["claimed"] == 2 and len(list_mails_to("anna@example.com")) == 1
    assert read_error(hand_out(repeated, path, PARTY)) == (409, "IDEMPOTENCY_KEY_REUSED")


def test_lists_that_no_holder_may_send(client: Client, path: str) -> None:
    for recipients, problems in (
        ([], {"recipients": "too_short"}),
        ([{"name": "Anna"}], {"recipients[0].email": "required"}),
        ([{**ANNA, "quantity": 2}], {"recipients[0].quantity": "too_large"}),
        ([{**PARTY, "quantity": 101}], {"recipients[0].quantity": "too_large"}),
        ([{**PARTY, "quantity": 0}], {"recipients[0].quantity": "too_small"}),
        ([{**ANNA, "email": "anna@example"}], {"recipients[0].email": "invalid_email"}),
        ([{**ANNA, "name": "www.example.com"}], {"recipients[0].name": "link_not_allowed"}),
        ([{**BEN, "name": f"Ben {number}"} for number in range(101)], {"recipients": "too_long"}),
    ):
        assert list_problems(hand_out(client, path, *recipients)) == problems, recipients
    assert list_problems(client.post(f"{path}/guests", {})) == {"recipients": "required"}
    assert data(client.get(path))["available"] == 10


def test_links_that_hand_out_nothing(client: Client, block: Block, path: str) -> None:
    other = create_another_block(block)
    assert read_error(hand_out(client, f"/api/allocations/allocator/{block.open_link()}", ANNA)) == (404, "NOT_FOUND")
    data(block.post("allocator-link", rotate=True))
    assert read_error(hand_out(client, path, ANNA)) == (410, "LINK_EXPIRED")
    path = f"/api/allocations/allocator/{block.allocator()}"
    data(block.post("allocator-link", revoke=True))
    assert read_error(hand_out(client, path, ANNA, dryRun=True)) == (410, "LINK_EXPIRED")
    path = f"/api/allocations/allocator/{other.allocator()}"
    update_event(block.owner, block.event, visibility="cancelled")
    assert read_error(hand_out(client, path, ANNA)) == (410, "LINK_EXPIRED")
    assert list_mails_to("anna@example.com") == []


def test_wrong_links_are_limited(client: Client) -> None:
    path = f"/api/allocations/allocator/{'A' * 44}"
    answers = [hand_out(client, path, ANNA).status_code for _ in range(21)]
    assert answers == [404] * 20 + [429]


def test_a_hundred_guests_take_few_statements(client: Client) -> None:
    block = create_block(client, total=200, quantity=100)
    path = f"/api/allocations/allocator/{block.allocator()}"
    guests = [{"name": f"Guest {number}", "email": f"guest{number}@example.com"} for number in range(100)]
    response, seen = count_statements(lambda: hand_out(client, path, *guests))
    assert len(data(response)["mailed"]) == 100 and len(seen) <= 5, seen
    run_jobs()
    assert [len(list_mails_to(guest["email"])) for guest in (guests[0], guests[50], guests[99])] == [1, 1, 1]
    assert_books_agree()
