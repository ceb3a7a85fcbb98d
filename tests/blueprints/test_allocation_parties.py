"""Parties over HTTP: several slots claimed together, of which one is later revoked, renamed or admitted."""

import re
from typing import Any

import pytest

from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, claim_slot, create_block
from tests.http import Client, data, read_error

FRIEDA = {"name": "Frieda", "email": "frieda@example.com"}


def party_of(made: Block, quantity: int = 3) -> list[dict[str, Any]]:
    """Claim a party by the open link; return slot id and code of each slot."""
    token = made.open_link(maxPerClaim=quantity)
    slots: list[dict[str, Any]] = data(claim_slot(made.owner, token, quantity=quantity))["slots"]
    return slots


def handed_out(made: Block, quantity: int = 3, **person: Any) -> list[dict[str, Any]]:
    """Hand out a party by the allocator link; return slot id and code of each slot."""
    path = f"/api/allocations/allocator/{made.allocator()}"
    slots: list[dict[str, Any]] = data(made.owner.post(path, {**FRIEDA, "quantity": quantity, **person}))["slots"]
    return slots


def rename(made: Block, slot: dict[str, Any], **person: Any) -> dict[str, Any]:
    path = f"/api/allocations/allocator/{made.allocator()}"
    sent = {"slotId": slot["slotId"], "name": "Maria", "email": "maria@example.com", **person}
    return data(made.owner.post(path, sent))


def take_back(made: Block, slot: dict[str, Any]) -> None:
    path = f"/api/allocations/allocator/{made.allocator()}"
    data(made.owner.post(path, {"slotId": slot["slotId"], "action": "take_back"}))


def codes_mailed_to(address: str) -> set[str]:
    """Return the codes in the emails to an address, of which at most one has tickets."""
    mails = [mail for mail in list_mails_to(address) if "was taken back" not in mail["subject"]]
    assert len(mails) <= 1
    return {code for mail in mails for code in re.findall(r"\b[0-9A-HJKMNP-TV-Z]{10}\b", mail["text"])}


def states(made: Block) -> dict[str, str]:
    return {slot["id"]: slot["status"] for slot in made.now()["slots"]}


def test_revoked_slot_of_a_party_admits_nobody_for_any_count(client: Client) -> None:
    made = create_block(client)
    first, second, third = (item["slotId"] for item in party_of(made))
    data(made.revoke(first))
    for count in (None, 1, 2, 3):
        assert read_error(made.admit(first, count=count, nonce=f"scan-{count}")) == (409, "SLOT_REVOKED")
    assert [states(made)[item] for item in (second, third)] == ["claimed", "claimed"]
    assert data(made.admit(second, count=2))["slotIds"] == [second, third]
    assert read_error(made.admit(first, count=1)) == (409, "SLOT_REVOKED")
    assert_books_agree()


def test_revoked_place_is_named_before_repeated_nonce(client: Client) -> None:
    made = create_block(client)
    first, second, _ = (item["slotId"] for item in party_of(made))
    data(made.admit(second, count=1, nonce="scan-1"))
    data(made.revoke(first))
    assert read_error(made.admit(first, count=1, nonce="scan-1")) == (409, "SLOT_REVOKED")


def test_place_that_is_not_claimed_is_refused_with_count(client: Client) -> None:
    made = create_block(client)
    invited = made.invite("anna@example.com")[0]["slotId"]
    assert read_error(made.admit(invited, count=1)) == (409, "NOT_CLAIMED")
    data(made.post("release-unused"))
    assert read_error(made.admit(invited, count=1)) == (409, "NOT_CLAIMED")


@pytest.mark.parametrize("which", [0, 1])
def test_renamed_place_leaves_the_party(client: Client, which: int) -> None:
    made = create_block(client)
    slots = handed_out(made, delivery="will_call")
    renamed = slots.pop(which)
    rename(made, renamed)
    refused = made.admit(slots[0]["slotId"], count=3, nonce="scan-1")
    assert read_error(refused) == (409, "PARTY_TOO_SMALL") and refused.get_json()["data"]["remaining"] == 2
    own = data(made.admit(renamed["slotId"], count=1, nonce="scan-2"))
    assert (own["name"], own["partySize"], own["slotIds"]) == ("Maria", 1, [renamed["slotId"]])
    rest = data(made.admit(slots[0]["slotId"], count=2, nonce="scan-3"))
    assert rest["slotIds"] == [slot["slotId"] for slot in slots] and rest["partyId"] != own["partyId"]
    assert read_error(made.admit(slots[1]["slotId"], count=1, nonce="scan-4")) == (409, "ALREADY_ADMITTED")
    assert_books_agree()


@pytest.mark.parametrize("which", [0, 1])
def test_email_after_a_rename_has_only_the_remaining_tickets(client: Client, which: int) -> None:
    made = create_block(client)
    slots = handed_out(made)
    renamed = slots.pop(which)
    new_code = rename(made, renamed)["code"]
    assert codes_mailed_to("frieda@example.com") == {slot["code"] for slot in slots}
    assert codes_mailed_to("maria@example.com") == {new_code}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("by", ["organiser", "holder"])
def test_party_is_emailed_although_one_slot_ended(client: Client, by: str, which: int) -> None:
    made = create_block(client)
    slots = handed_out(made)
    ended = slots.pop(which)
    if by == "organiser":
        data(made.revoke(ended["slotId"]))
    else:
        take_back(made, ended)
    assert codes_mailed_to("frieda@example.com") == {slot["code"] for slot in slots}


def test_ended_party_is_not_emailed(client: Client) -> None:
    made = create_block(client)
    for item in handed_out(made):
        take_back(made, item)
    assert codes_mailed_to("frieda@example.com") == set()


def test_slot_renamed_twice_is_emailed_to_the_last_guest_only(client: Client) -> None:
    made = create_block(client)
    first = handed_out(made, 1)[0]
    rename(made, first)
    code = rename(made, first, name="Tuli", email="tuli@example.com")["code"]
    assert (list_mails_to("frieda@example.com"), list_mails_to("maria@example.com")) == ([], [])
    assert codes_mailed_to("tuli@example.com") == {code}
