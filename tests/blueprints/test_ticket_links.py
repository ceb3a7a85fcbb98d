"""Guests pass their tickets on and give them back, over HTTP."""

import re
from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.blueprints.test_allocations_closed import ENDED, end
from tests.blueprints.test_gate_snapshot import get_snapshot, hash_code, list_places, read_stream
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, claim_slot, create_block
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.ticket_links import MARIA, Guest, claim_as_guest
from tests.http import Client, data, read_error

CODE = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{10}\b")


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client)


def find_slot(block: Block, slot_id: str) -> dict[str, Any]:
    (slot,) = [slot for slot in block.now()["slots"] if slot["id"] == slot_id]
    return slot


def follow_mailed_link(address: str) -> str:
    """Return the token of the ticket link in the newest mail to an address."""
    match = re.search(r"/ticket/(\S+)", list_mails_to(address)[0]["text"])
    assert match
    return match[1]


def scan(block: Block, code: str) -> Any:
    path = f"/api/events/{block.event['id']}/admissions"
    return block.owner.post(path, {"code": code, "nonce": f"scan-{code}"})


def test_a_ticket_that_is_passed_on_has_a_new_guest_and_a_new_code(block: Block) -> None:
    guest = claim_as_guest(block, name="Anna Weber", email="anna@example.com", phone="+264811234567")
    run_jobs()
    passed_on = data(guest.pass_on())
    assert passed_on == {"eventName": block.event["name"], **MARIA}, "the new code is only in the mail"
    slot = find_slot(block, guest.slot_id)
    assert (slot["status"], slot["name"], slot["email"]) == ("claimed", *MARIA.values())
    assert slot["code"] != guest.code and slot["phone"] is None
    (mail,) = list_mails_to(MARIA["email"])
    assert slot["code"] in mail["text"] and "Anna" not in mail["text"] + mail["html"]
    told = list_mails_to("anna@example.com")[0]
    assert "your ticket was passed on" in told["subject"] and "m•••@example.com" in told["text"]
    assert slot["code"] not in told["text"] and MARIA["email"] not in told["text"] + told["html"]
    assert read_error(scan(block, guest.code)) == (404, "TICKET_NOT_FOUND")
    assert data(scan(block, slot["code"]))["name"] == MARIA["name"]
    assert_books_agree()


def test_the_old_link_says_what_became_of_the_ticket(block: Block) -> None:
    guest = claim_as_guest(block)
    data(guest.pass_on())
    for response in (guest.read(), guest.pass_on(name="Tuli"), guest.give_back()):
        assert read_error(response) == (410, "LINK_EXPIRED")
        assert "passed on" in response.get_json()["message"]
    token = follow_mailed_link(MARIA["email"])
    (ticket,) = data(Client(guest.flask).get(f"/api/allocations/ticket/{token}"))["tickets"]
    assert (ticket["name"], ticket["mayPassOn"], ticket["mayGiveBack"]) == (MARIA["name"], True, True)


def test_only_a_new_name_sends_one_mail(block: Block) -> None:
    guest = claim_as_guest(block, name="Anna", email="anna@example.com")
    run_jobs()
    assert read_error(guest.pass_on(name="Anna", email="anna@example.com")) == (422, "VALIDATION_FAILED")
    data(guest.pass_on(name="Anna Weber", email="anna@example.com"))
    assert ["your ticket" in mail["subject"] for mail in list_mails_to("anna@example.com")] == [True, True]


def test_the_gate_learns_of_a_passed_on_ticket_within_its_stream(block: Block) -> None:
    guest = claim_as_guest(block)
    snapshot = data(get_snapshot(block))
    data(guest.pass_on())
    code = find_slot(block, guest.slot_id)["code"]
    (change,) = read_stream(block, snapshot["position"])
    for changed in (change.data, data(get_snapshot(block, snapshot["position"]))):
        place = list_places(changed)[guest.slot_id]
        assert (place["hash"], place["state"], place["name"]) == (hash_code(snapshot, code), "c", MARIA["name"])
    hashes = {place["hash"] for place in list_places(data(get_snapshot(block))).values()}
    assert hash_code(snapshot, guest.code) not in hashes


def test_the_gate_learns_of_a_ticket_that_was_given_back(block: Block) -> None:
    guest = claim_as_guest(block)
    snapshot = data(get_snapshot(block))
    data(guest.give_back())
    (change,) = read_stream(block, snapshot["position"])
    assert {id: place["state"] for id, place in list_places(change.data).items()} == {guest.slot_id: "r"}


def test_one_ticket_of_a_party_is_passed_on(block: Block) -> None:
    party = claim_as_guest(block, quantity=3, email="anna@example.com")
    first, second, third = data(party.read())["tickets"]
    second_guest = Guest(block, {**second, "email": "", "slots": []})
    data(second_guest.pass_on())
    assert [ticket["slotId"] for ticket in data(party.read())["tickets"]] == [first["slotId"], third["slotId"]]
    data(party.pass_on(email="tuli@example.com"))
    assert [ticket["slotId"] for ticket in data(party.read())["tickets"]] == [third["slotId"]]
    assert read_error(party.give_back()) == (410, "LINK_EXPIRED"), "the link of the party is that of its first ticket"
    third_guest = Guest(block, {**third, "email": "", "slots": []})
    assert data(third_guest.give_back())["status"] == "revoked"
    assert_books_agree()


def test_a_ticket_that_is_given_back_frees_its_place(block: Block) -> None:
    guest = claim_as_guest(block, email="anna@example.com")
    before = block.now()["available"]
    assert data(guest.give_back()) == {"eventName": block.event["name"], "status": "revoked"}
    assert data(guest.give_back())["status"] == "revoked", "a second call changes nothing"
    assert block.now()["available"] == before + 1
    assert "you gave back your ticket" in list_mails_to("anna@example.com")[0]["subject"]
    assert read_error(scan(block, guest.code)) == (409, "SLOT_REVOKED")
    assert "given back" in guest.read().get_json()["message"]
    assert "given back" in guest.pass_on().get_json()["message"]
    verb = fetch_scalar(
        "SELECT verb FROM allocation_slot_event WHERE slot_id = :id ORDER BY id DESC LIMIT 1", id=guest.slot_id
    )
    assert verb == "give_back"
    entries = data(block.owner.get(f"/api/events/{block.event['id']}/audit"))["entries"]
    assert (entries[0]["action"], entries[0]["data"]["by"]) == ("allocations.slot_revoked", "guest")
    assert_books_agree()


def test_a_place_of_an_open_link_can_be_claimed_again(block: Block) -> None:
    token = block.open_link()
    guest = Guest(block, data(claim_slot(block.owner, token, email="anna@example.com")))
    assert read_error(claim_slot(block.owner, token, email="anna@example.com")) == (409, "ALREADY_CLAIMED")
    data(guest.give_back())
    data(claim_slot(block.owner, token, email="anna@example.com"))
    assert_books_agree()


def test_an_admitted_ticket_stays(block: Block) -> None:
    guest = claim_as_guest(block)
    data(block.admit(guest.slot_id))
    (ticket,) = data(guest.read())["tickets"]
    assert (ticket["status"], ticket["mayPassOn"], ticket["mayGiveBack"]) == ("admitted", False, False)
    assert read_error(guest.pass_on()) == (409, "ALREADY_ADMITTED")
    assert read_error(guest.give_back()) == (409, "ALREADY_ADMITTED")


@pytest.mark.parametrize("how", ENDED)
def test_the_end_of_the_block_ends_both(block: Block, how: str) -> None:
    """A guest may still pass a ticket on after the release time: the place is theirs until the event ends."""
    guest = claim_as_guest(block)
    end(block, how)
    assert read_error(guest.give_back()) == (409, ENDED[how])
    (ticket,) = data(guest.read())["tickets"]
    assert (ticket["mayPassOn"], ticket["mayGiveBack"]) == (how == "released", False)
    if how == "released":
        data(guest.pass_on())
    else:
        assert read_error(guest.pass_on()) == (409, "EVENT_CLOSED")
    assert_books_agree()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "sponsor"}, (True, True)),
        ({"kind": "press"}, (False, True)),
        ({"kind": "staff"}, (False, True)),
        ({"kind": "press", "guestsMayPassOn": True}, (True, True)),
        ({"kind": "group", "guestsMayPassOn": False, "guestsMayGiveBack": False}, (False, False)),
    ],
)
def test_the_block_says_what_guests_may_do(client: Client, fields: dict[str, Any], expected: tuple[bool, bool]) -> None:
    block = create_block(client, **fields)
    now = block.now()
    assert (now["guestsMayPassOn"], now["guestsMayGiveBack"]) == expected
    guest = claim_as_guest(block)
    (ticket,) = data(guest.read())["tickets"]
    assert (ticket["mayPassOn"], ticket["mayGiveBack"]) == expected
    if not expected[0]:
        assert read_error(guest.pass_on()) == (409, "GUEST_CHANGE_NOT_ALLOWED")
    if not expected[1]:
        assert read_error(guest.give_back()) == (409, "GUEST_CHANGE_NOT_ALLOWED")


def test_the_organiser_changes_what_guests_may_do(block: Block) -> None:
    guest = claim_as_guest(block)
    before = block.owner.get(block.path)
    changed = block.owner.patch(block.path, {"guestsMayPassOn": False}, headers={"If-Match": before.headers["ETag"]})
    assert (data(changed)["guestsMayPassOn"], data(changed)["guestsMayGiveBack"]) == (False, True)
    assert changed.headers["ETag"] != before.headers["ETag"]
    assert read_error(guest.pass_on()) == (409, "GUEST_CHANGE_NOT_ALLOWED")
    stale = block.owner.patch(block.path, {"guestsMayPassOn": True}, headers={"If-Match": before.headers["ETag"]})
    assert read_error(stale)[0] == 412
    again = block.owner.patch(block.path, {"guestsMayPassOn": False})
    assert again.headers["ETag"] == changed.headers["ETag"], "the same values change nothing"


def test_a_place_is_passed_on_three_times_a_day(block: Block) -> None:
    guest = claim_as_guest(block)
    token = guest.token
    for number in range(4):
        response = Client(guest.flask).post(
            f"/api/allocations/ticket/{token}/pass-on", {"name": "Tuli", "email": f"tuli{number}@example.com"}
        )
        if number < 3:
            data(response)
            token = follow_mailed_link(f"tuli{number}@example.com")
    assert read_error(response) == (429, "RATE_LIMITED") and int(response.headers["Retry-After"]) > 3600
    assert find_slot(block, guest.slot_id)["email"] == "tuli2@example.com"
    assert list_mails_to("tuli3@example.com") == []
    execute_sql("UPDATE throttle SET ends_at = now() WHERE key LIKE 'ticket-passed-on:%'")
    data(Client(guest.flask).post(f"/api/allocations/ticket/{token}/pass-on", MARIA))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({**MARIA, "email": "nobody"}, "email"),
        ({**MARIA, "name": "Win now at evil.com"}, "name"),
        ({**MARIA, "name": " "}, "name"),
        ({**MARIA, "note": "Buy this"}, "note"),
    ],
)
def test_bad_guests_are_refused(block: Block, body: dict[str, str], field: str) -> None:
    guest = claim_as_guest(block)
    response = Client(guest.flask).post(f"{guest.path}/pass-on", body)
    assert read_error(response) == (422, "VALIDATION_FAILED")
    assert field in {error["path"] for error in response.get_json()["data"]["errors"]}
    assert data(guest.read())["tickets"][0]["code"] == guest.code


def test_other_links_open_no_ticket(block: Block) -> None:
    client = Client(block.owner.flask)
    guest = claim_as_guest(block)
    changed_token = guest.token[:-1] + ("A" if guest.token[-1] != "A" else "B")
    for token in (guest.code, block.open_link(), block.allocator(), "A" * 44, changed_token):
        assert read_error(client.get(f"/api/allocations/ticket/{token}")) == (404, "NOT_FOUND")
    assert read_error(client.get(f"/api/allocations/claim/{guest.token}")) == (404, "NOT_FOUND")


def test_a_link_of_a_revoked_or_renamed_ticket_says_so(block: Block) -> None:
    guest = claim_as_guest(block)
    data(block.revoke(guest.slot_id))
    assert "taken back" in guest.read().get_json()["message"]
    assert read_error(guest.give_back()) == (410, "LINK_EXPIRED")
    path = f"/api/allocations/allocator/{block.allocator()}"
    handed_out = data(block.owner.post(path, {"name": "Frieda", "email": "frieda@example.com"}))
    other = Guest(block, handed_out)
    data(block.owner.post(path, {"slotId": other.slot_id, **MARIA}))
    assert "to another guest" in other.read().get_json()["message"]
