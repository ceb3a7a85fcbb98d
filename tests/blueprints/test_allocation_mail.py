"""Emails and deadlines of blocks, and hostile names."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from tests.allocations.law import assert_books_agree
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, claim_slot, create_another_block, create_block, token_in
from tests.http import Client, data, read_error

HOSTILE = (
    "Zoë 🎪 Groß",
    "‮שלום עולם",
    "<img src=http://127.0.0.1:9/x>",
    "=cmd|' /C calc'!A0",
    "Ω" * 200,
    "ﷺ" * 200,
    "'; DROP TABLE allocation_slot; --",
    "{{ 7*7 }}",
    "\\1 \\",
    "ǃGaroës",
)


def pass_time(made: Block, column: str, by: str) -> None:
    with transaction() as session:
        session.execute(
            text(f"UPDATE allocation_block SET {column} = now() - interval '{by}' WHERE id = :id"), {"id": made.id}
        )


def test_invitation_and_reminder_have_the_same_link(client: Client) -> None:
    made = create_block(client, holder={"organisation": "Kalahari Coffee"})
    (invited,) = made.invite("anna@example.com")
    (first,) = list_mails_to("anna@example.com")
    assert invited["url"] in first["text"] and "Kalahari Coffee" in first["text"]
    data(made.post("remind"))
    assert invited["url"] in list_mails_to("anna@example.com")[0]["text"]


def test_expired_link_is_not_emailed(client: Client) -> None:
    made = create_block(client)
    (invited,) = made.invite("anna@example.com")
    data(made.revoke(invited["slotId"]))
    assert list_mails_to("anna@example.com") == []


def test_ticket_is_emailed_when_claimed_and_when_renamed(client: Client) -> None:
    made = create_block(client)
    path = f"/api/allocations/allocator/{made.allocator()}"
    mine = data(client.post(path, {"name": "Elago", "email": "elago@example.com"}))
    assert mine["code"] in list_mails_to("elago@example.com")[0]["text"]
    renamed = data(client.post(path, {"slotId": mine["slotId"], "name": "Maria", "email": "maria@example.com"}))
    assert renamed["code"] in list_mails_to("maria@example.com")[0]["text"]
    data(claim_slot(client, made.codes(1)[0], email="will@example.com", delivery="will_call"))
    assert "you are on the list" in list_mails_to("will@example.com")[0]["subject"]


def test_block_is_released_at_its_release_time(client: Client) -> None:
    made = create_block(client, quantity=5, releaseAt="2027-06-01T12:00:00")
    assert made.now()["releaseAt"] == "2027-06-01T10:00:00.000Z", "the event's time zone"
    codes = made.codes(2)
    data(claim_slot(client, codes[0]))
    run_jobs()
    assert made.now()["held"] == 5
    pass_time(made, "release_at", "1 minute")
    assert read_error(claim_slot(client, codes[1])) == (410, "LINK_EXPIRED"), "also while no worker has come by"
    with transaction() as session:
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'allocations.release'"))
    run_jobs()
    assert (made.now()["held"], made.now()["released"], made.now()["status"]) == (1, 4, "released")
    assert_books_agree()


def test_open_link_expires(client: Client) -> None:
    made = create_block(client)
    token = made.open_link(expiresAt="2027-01-01")
    pass_time(made, "open_expires_at", "1 second")
    assert read_error(claim_slot(client, token)) == (410, "LINK_EXPIRED")
    assert data(made.post("open-link"))["status"] == "expired"


def test_links_end_with_the_event(client: Client) -> None:
    made = create_block(client)
    token, (code,) = made.open_link(), made.codes(1)
    data(made.owner.delete(f"/api/events/{made.event['id']}"))
    assert read_error(claim_slot(client, token)) == read_error(claim_slot(client, code)) == (410, "LINK_EXPIRED")
    assert read_error(made.owner.post(made.events, {"ticketTypeId": made.ticket_type_id, "quantity": 1})) == (
        409,
        "EVENT_CLOSED",
    )


@pytest.mark.parametrize("shrink", ["release", "revoke", "move", "free"])
def test_reduced_block_with_a_price_enqueues_a_credit_note(client: Client, shrink: str) -> None:
    made = create_block(client, quantity=3, unitPriceMinor=0 if shrink == "free" else 1000)
    verbs: dict[str, Any] = {
        "release": lambda: made.post("release-unused", quantity=1),
        "revoke": lambda: made.revoke(made.claimed(1)[0], returnTo="public"),
        "move": lambda: made.post("move", toBlockId=create_another_block(made).id, quantity=1),
    }
    data(verbs.get(shrink, verbs["release"])())
    with transaction() as session:
        asked = session.scalars(text("SELECT payload->>'block_id' FROM outbox WHERE kind = 'allocations.credit'")).all()
    assert asked == ([] if shrink == "free" else [made.id])


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_stored_unchanged(client: Client, name: str) -> None:
    made = create_block(client, name=name[:120], holder={"name": name, "organisation": name})
    name = name.replace("\u202e", "")  # a direction control, which every name loses
    assert (made.now()["name"], made.now()["holder"]["name"]) == (name[:120], name)
    name = name.replace("http://127.0.0.1:9/x", "x")  # no link is taken in the name of a guest
    (invited,) = data(made.post("invite", name=name, email="anna@example.com"), 201)["invited"]
    mail = list_mails_to("anna@example.com")[0]
    assert "<img" not in mail["html"] and "49" not in mail["subject"].replace(made.event["name"], "")
    mine = data(claim_slot(client, token_in(invited), name=name))
    assert mine["name"] == name
    path = f"{made.events}/will-call"
    assert data(made.owner.get(path, query_string={"q": name[:60]}))["slots"] is not None
    assert [slot["name"] for slot in data(made.owner.get(path))["slots"]] == [name]
    assert data(made.admit(mine["slotId"]))["name"] == name
    sheet = made.owner.get(f"{made.path}/codes", headers={"Accept": "text/csv"}).get_data(as_text=True)
    assert name not in sheet


def test_old_code_of_a_link_does_not_open_its_slot(client: Client) -> None:
    """Code, link and ticket of an ended slot are invalid, and the new slot has others."""
    made = create_block(client, quantity=1)
    (code,) = made.codes(1)
    slot = data(claim_slot(client, code))["slotId"]
    data(made.revoke(slot))
    assert read_error(claim_slot(client, code)) == (410, "LINK_EXPIRED")
    (fresh,) = made.codes(1)
    assert fresh != code and data(claim_slot(client, fresh))["slotId"] != slot
    assert read_error(made.admit(slot)) == (409, "SLOT_REVOKED")


def test_new_allocator_link_is_mailed_to_the_holder(client: Client) -> None:
    made = create_block(client, holder={"name": "Tuli", "email": "tuli@bank.example"})
    url = data(made.post("allocator-link"))["url"]
    (mail,) = list_mails_to("tuli@bank.example")
    assert url in mail["text"] and url in mail["html"] and "10 tickets" in mail["text"]
    data(made.post("allocator-link"))
    assert len(list_mails_to("tuli@bank.example")) == 1, "the same link is not mailed again"
    data(made.post("allocator-link", mail=True))
    assert len(list_mails_to("tuli@bank.example")) == 2
    rotated = data(made.post("allocator-link", rotate=True))["url"]
    assert rotated != url and rotated in list_mails_to("tuli@bank.example")[0]["text"]
    data(made.post("allocator-link", rotate=True, mail=False))
    assert len(list_mails_to("tuli@bank.example")) == 3


def test_allocator_link_that_was_revoked_meanwhile_is_not_mailed(client: Client) -> None:
    made = create_block(client, holder={"name": "Tuli", "email": "tuli@bank.example"})
    data(made.post("allocator-link"))
    data(made.post("allocator-link", revoke=True))
    assert list_mails_to("tuli@bank.example") == []


def test_allocator_link_counts_towards_the_mail_limit(client: Client) -> None:
    made = create_block(client, holder={"name": "Tuli", "email": "tuli@bank.example"})
    answers = [made.post("allocator-link", mail=True) for _ in range(21)]
    assert [answer.status_code for answer in answers[:20]] == [200] * 20
    assert read_error(answers[20]) == (429, "MAIL_LIMIT_REACHED")


def test_guest_is_told_that_their_ticket_was_taken_back(client: Client) -> None:
    made = create_block(client, holder={"organisation": "Kalahari Coffee"})
    path = f"/api/allocations/allocator/{made.allocator()}"
    mine = data(client.post(path, {"name": "Elago", "email": "elago@example.com"}))
    for _ in range(2):
        data(client.post(path, {"slotId": mine["slotId"], "action": "take_back"}))
    mails = list_mails_to("elago@example.com")
    told = [mail for mail in mails if "taken back" in mail["subject"]]
    assert len(told) == 1 and "Kalahari Coffee took your ticket back." in told[0]["text"]
