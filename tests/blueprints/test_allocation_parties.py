"""Parties over HTTP: several places claimed at once, one of which is revoked, renamed or admitted later."""

from typing import Any

from tests.allocations.law import assert_books_agree
from tests.factories.allocations import Block, block, claim
from tests.http import Client, data, refusal

FRIEDA = {"name": "Frieda", "email": "frieda@example.com"}


def party_of(made: Block, quantity: int = 3) -> list[dict[str, Any]]:
    """A party that came by the open link: the slot id and the code of each place."""
    token = made.open_link(maxPerClaim=quantity)
    slots: list[dict[str, Any]] = data(claim(made.owner, token, quantity=quantity))["slots"]
    return slots


def handed_out(made: Block, quantity: int = 3, **person: Any) -> list[dict[str, Any]]:
    """The same from the holder's link."""
    path = f"/api/allocations/allocator/{made.allocator()}"
    slots: list[dict[str, Any]] = data(made.owner.post(path, {**FRIEDA, "quantity": quantity, **person}))["slots"]
    return slots


def rename(made: Block, slot: dict[str, Any], **person: Any) -> dict[str, Any]:
    path = f"/api/allocations/allocator/{made.allocator()}"
    sent = {"slotId": slot["slotId"], "name": "Maria", "email": "maria@example.com", **person}
    return data(made.owner.post(path, sent))


def states(made: Block) -> dict[str, str]:
    return {each["id"]: each["status"] for each in made.now()["slots"]}


def test_revoked_place_of_party_admits_nobody_whatever_count_says(client: Client) -> None:
    made = block(client)
    first, second, third = (each["slotId"] for each in party_of(made))
    data(made.revoke(first))
    for count in (None, 1, 2, 3):
        assert refusal(made.admit(first, count=count, nonce=f"scan-{count}")) == (409, "SLOT_REVOKED")
    assert [states(made)[each] for each in (second, third)] == ["claimed", "claimed"]
    assert data(made.admit(second, count=2))["slotIds"] == [second, third]
    assert refusal(made.admit(first, count=1)) == (409, "SLOT_REVOKED")
    assert_books_agree()


def test_revoked_place_is_named_before_repeated_nonce(client: Client) -> None:
    made = block(client)
    first, second, _ = (each["slotId"] for each in party_of(made))
    data(made.admit(second, count=1, nonce="scan-1"))
    data(made.revoke(first))
    assert refusal(made.admit(first, count=1, nonce="scan-1")) == (409, "SLOT_REVOKED")


def test_place_that_is_not_claimed_is_refused_with_count(client: Client) -> None:
    made = block(client)
    invited = made.invite("anna@example.com")[0]["slotId"]
    assert refusal(made.admit(invited, count=1)) == (409, "NOT_CLAIMED")
    data(made.post("release-unused"))
    assert refusal(made.admit(invited, count=1)) == (409, "NOT_CLAIMED")
