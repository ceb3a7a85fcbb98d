"""Forms of a block that are saved beside other changes: places handed out are no conflict, other facts are."""

from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.allocations.actions import block_changes
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import law_holds, own, without_the_lock
from tests.allocations.steps import pass_step
from tests.allocations.test_change_races import slow_down
from tests.factories.allocations import Block, claim_slot, create_block
from tests.factories.payouts import run_all_jobs
from tests.http import Client, data
from tests.pages.desk.test_guests import HOLDER, build_path
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.races import run_concurrently

NOON = "2027-06-01T10:00"
"""In the form of a step; the event is in June 2027."""


@pytest.fixture
def block(client: Client, organiser: Client) -> Block:
    return create_block(client, owner=organiser, holder=HOLDER)


def hand_out_and_admit(block: Block) -> None:
    """Change the version of a block in every way that hands out a place."""
    before = block.now()["version"]
    (slot_id, _) = block.claimed(2)
    block.invite("anna@example.com")
    data(block.admit(slot_id))
    block.open_link(maxClaims=3)
    assert block.now()["version"] > before


def test_a_block_is_saved_after_places_were_handed_out(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "edit"))
    hand_out_and_admit(block)
    assert "The block is saved." in desk.send(form=1, kind="sponsor", name="Silver").text
    desk.open(build_path(block, "plan"))
    hand_out_and_admit(block)
    assert "The step is added." in desk.send(form=1, on=NOON, amount="2").text
    hand_out_and_admit(block)
    assert "The step is removed." in desk.send(form=1).text
    desk.open(build_path(block, "invoice/buyer"))
    hand_out_and_admit(block)
    assert "The buyer is saved." in desk.send(form=1, buyerName="Bank Windhoek Ltd").text
    changed = block.now()
    assert (changed["name"], changed["releasePlan"], changed["buyerName"]) == ("Silver", [], "Bank Windhoek Ltd")
    assert_books_agree()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Platinum"},
        {"kind": "group"},
        {"notes": "Call first"},
        {"unitPriceMinor": 100},
        {"quantity": 11},
        {"guestsMayPassOn": False},
        {"guestsMayGiveBack": False},
        {"holder": {"phone": "+264811234567"}},
        {"releaseAt": "2027-06-03T10:00:00Z"},
        {"releasePlan": [{"on": "2027-05-25T10:00:00Z", "quantity": 1}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_any_fact_is_a_conflict(block: Block, desk: Visitor, change: dict[str, Any]) -> None:
    desk.open(build_path(block, "edit"))
    data(block.change(**change))
    before = block.now()
    page = desk.send(form=1, kind="sponsor", name="Silver")
    assert page.status_code == 412 and "Open the page again" in page.text and block.now() == before


def test_the_buyer_and_the_other_facts_are_saved_beside_each_other(block: Block, desk: Visitor) -> None:
    desk.open(build_path(block, "edit"))
    data(block.owner.patch(f"{block.path}/invoice/buyer", {"buyerName": "Bank Windhoek Ltd"}))
    assert "The block is saved." in desk.send(form=1, kind="sponsor", name="Silver").text
    desk.open(build_path(block, "invoice/buyer"))
    data(block.change(name="Platinum"))
    assert "The buyer is saved." in desk.send(form=1, buyerReference="PO 7").text


def test_a_step_that_runs_is_no_conflict(block: Block, desk: Visitor) -> None:
    data(block.change(releasePlan=[{"on": "2027-05-25T10:00:00Z", "quantity": 3}]))
    pass_step(block, 0)
    desk.open(build_path(block, "edit"))
    run_all_jobs()
    assert block.now()["released"] == 3
    assert "The block is saved." in desk.send(form=1, kind="sponsor", name="Silver").text
    assert_books_agree()


@pytest.mark.parametrize(("quantity", "is_saved"), [("6", False), ("10", True)])
def test_places_given_back_meanwhile_are_a_conflict_only_for_another_number_of_places(
    block: Block, desk: Visitor, quantity: str, is_saved: bool
) -> None:
    desk.open(build_path(block, "edit"))
    data(block.post("release-unused", quantity=4))
    page = desk.send(form=1, kind="sponsor", quantity=quantity, name="Silver")
    assert ("The block is saved." in page.text) is is_saved
    assert block.now()["released"] == 4 and block.now()["quantity"] == 10
    assert_books_agree()


def test_a_form_without_the_facts_changes_nothing(block: Block, desk: Visitor) -> None:
    for end, typed in (("edit", {"kind": "sponsor"}), ("plan", {"on": NOON, "amount": "2"}), ("invoice/buyer", {})):
        desk.open(build_path(block, end))
        before = block.now()
        assert desk.press(form=1, **typed, facts="").status_code == 422, end
        assert desk.press(form=1, **typed, facts="0" * 32, name="Silver", buyerName="Silver").status_code == 412, end
        assert block.now() == before


def test_a_block_is_changed_beside_many_claims(app: Flask, client: Client, organiser: Client, desk: Visitor) -> None:
    block = create_block(client, owner=organiser, quantity=64, holder=HOLDER)
    codes = block.codes()
    desk.open(build_path(block, "edit"))
    change = partial(desk.press, form=1, kind="sponsor", name="Silver")
    calls = [*(partial(claim_slot, own(app, organiser), code) for code in codes), change]
    statuses = [answer.status_code for answer in run_concurrently(65, lambda number: calls[number]())]
    assert statuses == [200] * 64 + [303]
    assert (block.now()["name"], block.now()["claimed"]) == ("Silver", 64)
    assert_books_agree()


def save_twice(app: Flask, owner: Account, block: Block) -> list[int]:
    """Save two changes of a block from two forms that were opened at the same time."""
    places = block.now()["quantity"]
    visitors = [sign_in_browser(app, owner) for _ in range(2)]
    for visitor in visitors:
        visitor.open(build_path(block, "edit"))
    answers = run_concurrently(
        2,
        lambda number: visitors[number].press(
            form=1, kind="sponsor", name=f"{number}", quantity=f"{places + 1 + number}"
        ),
    )
    return sorted(answer.status_code for answer in answers)


def test_only_one_of_two_changes_from_pages_counts(app: Flask, owner: Account, block: Block) -> None:
    assert [save_twice(app, owner, block) for _ in range(3)] == [[303, 412]] * 3
    assert_books_agree()


@pytest.mark.control
def test_both_changes_from_pages_count_without_the_lock(
    app: Flask, owner: Account, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_the_lock(monkeypatch)
    slow_down(monkeypatch, block_changes, "digest_facts")
    assert any(save_twice(app, owner, block) != [303, 412] for _ in range(3)) or not law_holds()
