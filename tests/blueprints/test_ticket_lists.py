"""An organiser sends tickets to a list of guests at once, over HTTP, instead of invitations to accept."""

from typing import Any

import pytest
from flask import Flask

from app.accounts import outgoing_mail
from app.core.throttle import Rule
from tests.allocations.law import assert_books_agree
from tests.allocations.racing import own
from tests.factories.accounts import list_mails_to
from tests.factories.allocations import Block, create_block
from tests.factories.events import create_organiser_client, update_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems, read_error
from tests.races import repeat_while_busy, run_concurrently
from tests.teams.test_hidden_fields import add_member

ANNA = {"name": "Anna", "email": "anna@example.com"}
PARTY = {"name": "Ras Sheehama", "delivery": "will_call", "quantity": 3}


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client)


def send(block: Block, *recipients: dict[str, Any], client: Client | None = None, **body: Any) -> Any:
    body = {"recipients": recipients, "sends": "ticket", **body}
    return (client or block.owner).post(f"{block.path}/invite", body)


def test_guests_have_their_tickets_at_once(block: Block) -> None:
    dry = data(send(block, ANNA, PARTY, dryRun=True))
    assert dry["mailed"] == [ANNA] and (dry["invited"], dry["available"], dry["dryRun"]) == ([], 6, True)
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []
    sent = data(send(block, ANNA, PARTY), 201)
    (anna,), (party,) = sent["mailed"], sent["listed"]
    assert anna == {**ANNA, "slotId": anna["slotId"]} and party["quantity"] == 3 and sent["invited"] == []
    now = block.now(status="claimed")
    assert (now["claimed"], now["invited"], now["available"]) == (4, 0, 6)
    slots = {slot["id"]: slot for slot in now["slots"]}
    assert slots[anna["slotId"]]["via"] == "invite" and len({slot["code"] for slot in slots.values()}) == 4
    (mail,) = list_mails_to("anna@example.com")
    assert slots[anna["slotId"]]["code"] in mail["text"] and mail["attachments"]
    assert data(block.admit(anna["slotId"]))["count"] == 1
    (act,) = data(block.owner.get("/api/organisations/me/audit?action=allocations.guests_invited"))["entries"]
    assert act["data"] == {"guests": 2, "sends": "ticket"}
    assert_books_agree()


def test_a_guest_who_is_invited_or_has_a_ticket_is_a_duplicate(block: Block) -> None:
    block.invite("anna@example.com")
    (guest,) = data(send(block, ANNA), 201)["duplicates"]
    assert guest["reason"] == "ALREADY_INVITED" and block.now()["claimed"] == 0
    assert len(data(send(block, ANNA, allowDuplicates=True), 201)["mailed"]) == 1
    (guest,) = data(send(block, ANNA, sends="invitation"), 201)["duplicates"]
    assert guest["reason"] == "ALREADY_INVITED"
    assert_books_agree()


def test_too_many_guests_and_wrong_words_are_refused(block: Block) -> None:
    crowd = [{"name": f"Guest {number}", "email": f"g{number}@example.com"} for number in range(11)]
    assert read_error(send(block, *crowd)) == (409, "INSUFFICIENT_SLOTS")
    assert list_problems(send(block, ANNA, sends="letter")) == {"sends": "unknown_value"}
    assert list_problems(send(block, ANNA, sends=None)) == {"sends": "required"}
    assert list_problems(send(block, {"name": "Anna"})) == {"recipients[0].email": "required"}
    update_event(block.owner, block.event, visibility="cancelled")
    assert read_error(send(block, ANNA)) == (409, "EVENT_CLOSED")
    assert block.now()["claimed"] == 0 and list_mails_to("anna@example.com") == []


def test_tickets_count_as_mails(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = Rule("mails-sender", 1, outgoing_mail.ONE_DAY)
    monkeypatch.setattr(outgoing_mail, "MAILS_PER_SENDER", rule)
    assert read_error(send(block, ANNA, {**ANNA, "email": "ben@example.com"})) == (429, "MAIL_LIMIT_REACHED")
    assert block.now()["claimed"] == 0
    data(send(block, ANNA, PARTY), 201)
    assert read_error(send(block, ANNA, allowDuplicates=True)) == (429, "MAIL_LIMIT_REACHED")
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE 'organiser' = ANY(roles)")
    assert send(block, PARTY).status_code == 403


def test_other_organisers_and_lesser_roles_send_no_tickets(client: Client, block: Block) -> None:
    assert send(block, ANNA, client=create_organiser_client(client)).status_code == 404
    for role in ("finance", "viewer", "door"):
        member = add_member(block.owner, client, role)
        assert send(block, ANNA, client=member).status_code == 403, role
    assert block.now()["claimed"] == 0


def test_concurrent_lists_get_the_last_places_as_wholes(app: Flask, block: Block) -> None:
    def send_list(number: int) -> Any:
        guests = [{"name": "G", "email": f"list{number}-{guest}@example.com"} for guest in range(3)]
        sends = "ticket" if number % 2 else "invitation"
        return repeat_while_busy(
            lambda: send(
                block,
                *guests,
                {**PARTY, "quantity": 1},
                client=own(app, block.owner),
                sends=sends,
                allowDuplicates=True,
            )
        )

    answers = run_concurrently(8, send_list)
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [409] * 6
    now = block.now()
    assert now["claimed"] + now["invited"] == 8 and now["available"] == 2
    assert_books_agree()


def test_the_same_list_at_once_is_sent_once(app: Flask, block: Block) -> None:
    answers = run_concurrently(
        8, lambda _: repeat_while_busy(lambda: send(block, ANNA, PARTY, client=own(app, block.owner)))
    )
    assert sorted(len(data(answer, 201)["duplicates"]) for answer in answers) == [0] + [2] * 7
    assert block.now()["claimed"] == 4 and len(list_mails_to("anna@example.com")) == 1
    assert_books_agree()
