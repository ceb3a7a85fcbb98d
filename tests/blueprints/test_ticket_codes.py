"""Claim codes and ticket codes over HTTP: a claim code does not admit."""

from typing import Any

from sqlalchemy import text

from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, claim_slot, create_block, token_in
from tests.http import Client, data, read_error


def found_at_gate(made: Block, code: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data(made.owner.get(f"{made.events}/will-call", query_string={"q": code}))["slots"]
    return rows


def listed(made: Block) -> dict[str, str]:
    """The claim codes of a block, each with the state of its place."""
    return {code["code"]: code["status"] for code in data(made.owner.get(f"{made.path}/codes"))["codes"]}


def test_claimed_ticket_gets_a_code_of_its_own(client: Client) -> None:
    made = create_block(client)
    (code,) = made.codes(1)
    mine = data(claim_slot(client, code, email="frieda@example.com", delivery="e_ticket"))
    assert mine["code"] != code and len(mine["code"]) == 10
    assert mine["slots"] == [{"slotId": mine["slotId"], "code": mine["code"]}]
    assert [slot["code"] for slot in made.now()["slots"] if slot["id"] == mine["slotId"]] == [mine["code"]]
    (mail,) = list_mails_to("frieda@example.com")
    assert mine["code"] in mail["text"] and code not in mail["text"] + mail["html"]
    assert_books_agree()


def test_used_claim_code_answers_link_used_and_does_not_admit(client: Client) -> None:
    made = create_block(client)
    (code,) = made.codes(1)
    mine = data(claim_slot(client, code))
    assert read_error(client.get(f"/api/allocations/claim/{code}")) == (410, "LINK_USED")
    assert read_error(claim_slot(client, code.lower())) == (410, "LINK_USED")
    page = client.get(f"/claim/{code}")
    assert page.status_code == 410 and "Somebody has claimed this ticket" in page.text
    assert made.event["name"] in page.text, "the page says for which event"
    assert found_at_gate(made, code) == []
    (row,) = found_at_gate(made, mine["code"])
    assert data(made.admit(row["slotId"]))["code"] == mine["code"]
    assert read_error(claim_slot(client, code)) == (410, "LINK_USED")


def test_claim_codes_are_listed_with_their_state_after_the_claim(client: Client) -> None:
    made = create_block(client)
    used, waiting, revoked = made.codes(3)
    data(claim_slot(client, used))
    data(made.revoke(data(claim_slot(client, revoked))["slotId"]))
    assert listed(made) == {used: "claimed", waiting: "invited"}
    sheet = made.owner.get(f"{made.path}/codes", headers={"Accept": "text/csv"}).get_data(as_text=True)
    assert sorted(line.split(",")[0] for line in sheet.splitlines()[1:]) == sorted((used, waiting))
    assert read_error(claim_slot(client, revoked)) == (410, "LINK_EXPIRED")


def test_ticket_that_was_claimed_with_one_code_for_both_still_admits(client: Client) -> None:
    """As places stand that were claimed before tickets had codes of their own."""
    made = create_block(client)
    (code,) = made.codes(1)
    slot = data(claim_slot(client, code))["slotId"]
    with transaction() as session:
        statement = "UPDATE allocation_slot SET code = claim_code, claim_code = NULL WHERE id = :id"
        session.execute(text(statement), {"id": slot})
    assert listed(made) == {code: "claimed"}
    assert read_error(claim_slot(client, code)) == (410, "LINK_USED")
    (row,) = found_at_gate(made, code)
    assert data(made.admit(row["slotId"]))["code"] == code


def test_ticket_of_an_invitation_has_a_code_and_no_claim_code(client: Client) -> None:
    made = create_block(client)
    token = token_in(made.invite("anna@example.com")[0])
    code = data(claim_slot(client, token))["code"]
    assert listed(made) == {} and len(found_at_gate(made, code)) == 1
    assert read_error(claim_slot(client, token)) == read_error(claim_slot(client, code)) == (410, "LINK_USED")
