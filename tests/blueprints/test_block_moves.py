"""Moving places to another block, and splitting a block."""

from tests.allocations.law import assert_books_agree
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems, read_error

COUNTERS = ("quantity", "held", "available", "invited", "claimed", "admitted")


def count_places(made: Block) -> list[int]:
    return [made.now()[name] for name in COUNTERS]


def test_split_makes_a_block_with_the_same_terms(client: Client) -> None:
    made = create_block(client, unitPriceMinor=5000, releaseAt="2027-06-01T12:00:00Z", kind="press")
    found = data(made.post("move", newBlock={"name": "Radio", "holder": {"email": "r@fm.example"}}, quantity=4))
    new = found["to"]
    assert (new["name"], new["kind"], new["unitPriceMinor"], new["releaseAt"]) == (
        "Radio",
        "press",
        5000,
        "2027-06-01T12:00:00.000Z",
    )
    assert new["holder"]["email"] == "r@fm.example" and new["status"] == "open"
    assert [found[which][name] for which in ("from", "to") for name in ("quantity", "available")] == [6, 6, 4, 4]
    execute_sql("UPDATE allocation_block SET release_at = now()")
    assert data(made.post("move", newBlock={}, quantity=1))["to"]["releaseAt"] is None
    assert_books_agree()


def test_split_takes_terms_of_its_own_and_uses_no_promo_code(client: Client) -> None:
    made = create_block(client)
    terms = {"kind": "staff", "unitPriceMinor": 0, "releaseAt": None, "notes": "Crew", "releasePlan": []}
    new = data(made.post("move", newBlock=terms, quantity=1))["to"]
    assert (new["kind"], new["totalMinor"], new["releaseAt"], new["notes"], new["promoCode"]) == (
        "staff",
        0,
        None,
        "Crew",
        None,
    )
    wrong = made.post("move", newBlock={"releasePlan": [{"on": "2020-01-01", "quantity": 1}]}, quantity=1)
    assert list_problems(wrong) == {"newBlock.releasePlan[0].on": "in_the_past"}
    assert data(made.owner.get(made.events))["totals"]["blocks"] == 2


def test_guests_keep_link_ticket_and_code_when_their_place_moves(client: Client) -> None:
    made = create_block(client)
    target = create_another_block(made)
    claimed = data(claim_slot(client, made.codes(1)[0]))
    (invited,) = made.invite("anna@example.com")
    free = next(slot["id"] for slot in made.now()["slots"] if slot["status"] == "available")
    data(made.post("move", toBlockId=target.id, slotIds=[claimed["slotId"], invited["slotId"], free]))
    assert count_places(made) == [7, 7, 7, 0, 0, 0]
    assert count_places(target) == [13, 13, 11, 1, 1, 0]
    assert data(claim_slot(client, token_in(invited)))["status"] == "claimed"
    slot = next(slot for slot in target.now()["slots"] if slot["id"] == claimed["slotId"])
    assert slot["code"] == claimed["code"]
    assert data(target.admit(claimed["slotId"]))["blockId"] == target.id
    assert count_places(target) == [13, 13, 11, 0, 1, 1]
    assert_books_agree()


def test_last_claimed_places_may_move_to_a_cancelled_block(client: Client) -> None:
    made = create_block(client, quantity=1)
    target = create_another_block(made, quantity=1)
    slots = made.claimed(1)
    data(target.post("move", toBlockId=made.id, quantity=1))
    assert target.now()["status"] == "cancelled"
    found = data(made.post("move", toBlockId=target.id, slotIds=slots))
    assert (found["to"]["status"], found["to"]["claimed"]) == ("exhausted", 1)
    assert_books_agree()


def test_chosen_places_must_be_of_the_block_and_not_used(client: Client) -> None:
    made = create_block(client)
    target = create_another_block(made)
    admitted, revoked, claimed = made.claimed(3)
    data(made.admit(admitted))
    data(made.revoke(revoked))
    foreign = target.now()["slots"][0]["id"]
    wrong = made.post("move", toBlockId=target.id, slotIds=[claimed, revoked, foreign, claimed])
    assert list_problems(wrong) == {
        "slotIds[0]": "duplicate",
        "slotIds[1]": "unknown_value",
        "slotIds[2]": "unknown_value",
        "slotIds[3]": "duplicate",
    }
    refused = made.post("move", toBlockId=target.id, slotIds=[claimed, admitted])
    assert read_error(refused) == (409, "ALREADY_ADMITTED")
    assert read_error(made.post("move", newBlock={}, slotIds=[admitted])) == (409, "ALREADY_ADMITTED")
    assert data(made.owner.get(made.events))["totals"]["blocks"] == 2, "no empty block is left"
    assert count_places(target) == [10, 10, 10, 0, 0, 0]


def test_target_and_places_are_named_once(client: Client) -> None:
    made = create_block(client)
    assert list_problems(made.post("move")) == {"toBlockId": "required", "quantity": "required"}
    both = {"toBlockId": made.id, "newBlock": {}, "quantity": 1, "slotIds": [made.now()["slots"][0]["id"]]}
    assert list_problems(made.post("move", **both)) == {"toBlockId": "contradiction", "quantity": "contradiction"}


def test_guest_of_both_open_links_stays(client: Client) -> None:
    made = create_block(client)
    target = create_another_block(made)
    (slot, _) = (
        data(claim_slot(client, block.open_link(), email="anna@example.com"))["slotId"] for block in (made, target)
    )
    assert read_error(made.post("move", toBlockId=target.id, slotIds=[slot])) == (409, "ALREADY_CLAIMED")
    assert data(made.post("move", newBlock={}, slotIds=[slot]))["to"]["claimed"] == 1
    assert_books_agree()


def test_invoiced_places_do_not_move(client: Client) -> None:
    made = create_block(client)
    slots = made.claimed(1)
    data(made.post("invoice/email", to="books@bank.example"), 202)
    for places in ({"quantity": 1}, {"slotIds": slots}):
        assert read_error(made.post("move", newBlock={}, **places)) == (409, "BLOCK_INVOICED")
    assert data(made.owner.get(made.events))["totals"]["blocks"] == 1


def test_block_of_a_cancelled_event_is_not_split(client: Client) -> None:
    made = create_block(client)
    data(made.owner.patch(f"/api/events/{made.event['id']}", {"visibility": "cancelled"}))
    assert read_error(made.post("move", newBlock={}, quantity=1)) == (409, "EVENT_CLOSED")
