"""Holders who hand out lists of guests at the same time: each list as a whole or not at all."""

from collections import Counter
from threading import Barrier
from typing import Any

import pytest
from flask import Flask

from tests.allocations.law import assert_books_agree
from tests.allocations.racing import own, without_the_lock
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, claim_slot, create_block
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently

LIST = 3


def build_list(number: int) -> list[dict[str, Any]]:
    """Two guests who get a mail, and a party of two at the gate, of one list."""
    mailed = [{"name": f"Guest {number}", "email": f"list{number}-{guest}@example.com"} for guest in range(2)]
    return [*mailed, {"name": f"Crew {number}", "delivery": "will_call", "quantity": 2}]


def hand_out_concurrently(app: Flask, block: Block, count: int) -> list[Any]:
    path = f"/api/allocations/allocator/{block.allocator()}/guests"
    return run_concurrently(
        count,
        lambda number: repeat_while_busy(lambda: own(app, block.owner).post(path, {"recipients": build_list(number)})),
    )


def test_concurrent_lists_get_the_last_places_as_wholes(app: Flask, client: Client) -> None:
    block = create_block(client, quantity=10)
    answers = hand_out_concurrently(app, block, 16)
    assert Counter(answer.status_code for answer in answers) == {200: 2, 409: 14}
    assert {read_error(answer) for answer in answers if answer.status_code == 409} == {(409, "INSUFFICIENT_SLOTS")}
    slots = block.now(status="claimed")["slots"]
    assert Counter(slot["name"].rpartition(" ")[2] for slot in slots) == {
        str(number): 4 for number, answer in enumerate(answers) if answer.status_code == 200
    }
    assert block.now()["available"] == 2
    mails = [len(list_mails_to(f"list{number}-{guest}@example.com")) for number in range(16) for guest in range(2)]
    assert mails == [int(answer.status_code == 200) for answer in answers for _ in range(2)]
    assert_books_agree()


@pytest.mark.control
def test_lists_share_places_without_the_lock(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    block = create_block(client, quantity=10)
    without_the_lock(monkeypatch)
    both_checked = Barrier(2)

    def check_and_wait(*_: object) -> None:
        """Replace the count of the holder's guests, which makes requests wait for each other as well."""
        both_checked.wait(timeout=30)

    monkeypatch.setattr("app.allocations.actions.guest_lists.check_guest_limit", check_and_wait)
    answers = hand_out_concurrently(app, block, 2)
    handed_out = [guest["slotId"] for answer in answers for guest in (*data(answer)["mailed"], *data(answer)["listed"])]
    assert len(handed_out) == 2 * LIST and len(set(handed_out)) == LIST


def test_a_list_and_single_claims_share_the_places(app: Flask, client: Client) -> None:
    block = create_block(client, quantity=6)
    token, path = block.open_link(), f"/api/allocations/allocator/{block.allocator()}/guests"

    def use_link(number: int) -> int:
        visitor = own(app, block.owner)
        if number % 2:
            return repeat_while_busy(lambda: claim_slot(visitor, token)).status_code
        return repeat_while_busy(lambda: visitor.post(path, {"recipients": build_list(number)})).status_code

    answers = run_concurrently(16, use_link)
    lists, claims = answers[0::2].count(200), answers[1::2].count(200)
    assert block.now()["claimed"] == 4 * lists + claims <= 6 and set(answers) <= {200, 409}
    assert_books_agree()


def test_the_same_list_at_once_is_handed_out_once(app: Flask, client: Client) -> None:
    block = create_block(client, quantity=10)
    path = f"/api/allocations/allocator/{block.allocator()}/guests"
    answers = run_concurrently(
        8, lambda _: repeat_while_busy(lambda: own(app, block.owner).post(path, {"recipients": build_list(1)}))
    )
    assert sorted(len(data(answer)["duplicates"]) for answer in answers) == [0] + [3] * 7
    assert block.now()["claimed"] == 4 and len(list_mails_to("list1-0@example.com")) == 1
    assert_books_agree()
