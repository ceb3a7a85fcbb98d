"""How much mail an account may send to others a day, one invitation to an address, and no links in what is mailed."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import outgoing_mail
from app.campaigns import campaign_store
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.invitations.actions import invites
from tests.factories import allocations
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import LIST, create_application
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently
from tests.unguarded import without_rules

VICTIM = "victim@example.org"


@pytest.fixture(autouse=True)
def _many_requests(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates of routes do not bind here."""
    monkeypatch.setattr(app.extensions["request_counter"], "scale", 10_000.0)


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def limited(monkeypatch: pytest.MonkeyPatch, *, sender: int = 5000, recipient: int = 20) -> None:
    """Other figures for the two rules, so that a test need not send thousands."""
    monkeypatch.setattr(outgoing_mail, "MAILS_PER_SENDER", Rule("mails-sender", sender, outgoing_mail.ONE_DAY))
    monkeypatch.setattr(outgoing_mail, "MAILS_PER_RECIPIENT", Rule("mails-recipient", recipient, outgoing_mail.ONE_DAY))


def invite(owner: Client, made: dict[str, Any], **body: Any) -> Any:
    return owner.post(f"/api/events/{made['id']}/merchant-invite", {"email": VICTIM, **body})


def test_an_address_is_invited_once_per_event(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner)
    first = data(invite(owner, made, message="Come!"), 201)
    assert (first["alreadyInvited"], first["mailed"]) == (False, True)
    for _ in range(30):
        again = data(invite(owner, made, message="Come again!"), 201)
        assert (again["slug"], again["alreadyInvited"], again["mailed"]) == (first["slug"], True, False)
        assert again["message"] == "Come!"
    assert len(list_mails_to(VICTIM)) == 1
    other = data(invite(owner, create_event(owner)), 201)
    assert other["alreadyInvited"] is False


@pytest.mark.parametrize("over", ["revoked", "expired", "used"])
def test_an_address_whose_invitation_is_over_may_be_invited_again(client: Client, over: str) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner)
    first = data(invite(owner, made), 201)
    if over == "revoked":
        data(owner.post(f"/api/events/{made['id']}/merchant-invite", {"slug": first["slug"], "revoke": True}), 201)
    elif over == "used":
        create_application(client, inviteSlug=first["slug"])
    else:
        with transaction() as session:
            session.execute(text("UPDATE invite_link SET expires_at = now()"))
    again = data(invite(owner, made), 201)
    assert again["alreadyInvited"] is False and again["slug"] != first["slug"]


def race_of_invitations(client: Client, callers: int) -> list[Any]:
    owner = create_organiser_client(client)
    made = create_event(owner)
    return run_concurrently(callers, lambda _: invite(owner, made))


def test_of_many_invitations_to_an_address_at_once_one_is_made(client: Client) -> None:
    answers = race_of_invitations(client, 64)
    assert {response.status_code for response in answers} == {201}
    assert [response.get_json()["data"]["alreadyInvited"] for response in answers].count(False) == 1
    assert len({response.get_json()["data"]["slug"] for response in answers}) == 1
    assert count("SELECT count(*) FROM invite_link") == 1 and len(list_mails_to(VICTIM)) == 1


@pytest.mark.control
def test_without_the_index_many_would_be_made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement names the index, so the control looks first and inserts then, as one would without it."""
    plain = invites.insert

    def look_first(session: Any, values: dict[str, Any]) -> Any:
        running = invites.select(invites.InviteLink).where(
            invites.InviteLink.invited_address == values["invited_address"]
        )
        found = session.scalar(running)
        if found is not None:
            return found, False
        statement = plain(invites.InviteLink).values(id=invites.new_id(), **values).returning(invites.InviteLink)
        return session.scalars(statement).one(), True

    monkeypatch.setattr(invites, "_insert_or_find_link", look_first)
    with without_rules("uq_invite_link_invited"):
        race_of_invitations(client, 32)
        assert count("SELECT count(*) FROM invite_link") > 1


def test_a_recipient_gets_so_many_mails_a_day_from_one_sender(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, recipient=3)
    owner = create_organiser_client(client)
    answers = [invite(owner, create_event(owner)) for _ in range(4)]
    assert [response.status_code for response in answers] == [201, 201, 201, 429]
    assert read_error(answers[3]) == (429, "MAIL_LIMIT_REACHED") and int(answers[3].headers["Retry-After"]) > 80_000
    assert answers[3].get_json()["data"]["recipients"] == [VICTIM]
    assert len(list_mails_to(VICTIM)) == 3 and count("SELECT count(*) FROM invite_link") == 3
    stranger = create_organiser_client(client)
    data(invite(stranger, create_event(stranger)), 201)


def test_a_batch_counts_with_every_mail_and_nothing_of_it_is_half_done(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, sender=8)
    block = allocations.create_block(client, total=100, quantity=50)
    block.invite(*(f"guest{number}@example.org" for number in range(6)))
    people = [{"name": "Guest", "email": f"other{number}@example.org"} for number in range(3)]
    refused = block.post("invite", recipients=people)
    assert read_error(refused) == (429, "MAIL_LIMIT_REACHED")
    assert block.now()["available"] == 44 and list_mails_to("other0@example.org") == []
    assert len(block.invite("last1@example.org", "last2@example.org")) == 2


def test_five_hundred_at_once_are_five_hundred(client: Client) -> None:
    block = allocations.create_block(client, total=600, quantity=500)
    block.invite(*(f"guest{number}@example.org" for number in range(500)))
    assert count("SELECT hits FROM throttle WHERE key LIKE 'mails-sender:%'") == 500


def test_merchants_of_the_directory_are_counted(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, sender=2)
    owner = create_organiser_client(client)
    made = create_event(owner)
    invite_merchants(owner, made["id"], create_merchant_account(), create_merchant_account())
    body = {"merchantIds": [create_merchant_account().id]}
    refused = owner.post(f"/api/events/{made['id']}/directory-invites", body)
    assert read_error(refused) == (429, "MAIL_LIMIT_REACHED")
    assert count("SELECT count(*) FROM event_invite") == 2


def sent_at_once(client: Client, callers: int) -> list[int]:
    owner = create_organiser_client(client)
    events = [create_event(owner) for _ in range(callers)]
    return [item.status_code for item in run_concurrently(callers, lambda number: invite(owner, events[number]))]


def test_the_limit_holds_for_many_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, recipient=5)
    answers = sent_at_once(client, 24)
    assert (answers.count(201), answers.count(429)) == (5, 19)
    assert len(list_mails_to(VICTIM)) == 5


@pytest.mark.control
def test_a_limit_that_is_read_before_it_is_counted_would_let_more_pass(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, recipient=5)
    many = outgoing_mail.throttle.hit_many

    def read_first(session: Any, hits: Any) -> Any:
        keys = [outgoing_mail.throttle.key_of(*hit) for hit in hits]
        statement = text("SELECT key, hits FROM throttle WHERE key = ANY(:keys)")
        rows = {row.key: row.hits for row in session.execute(statement, {"keys": keys})}
        many(session, hits)
        return [
            outgoing_mail.throttle.ThrottleStatus(rule, rows.get(key, 0) + hits[rule, subject], 1)
            for key, (rule, subject) in zip(keys, hits, strict=True)
        ]

    monkeypatch.setattr(outgoing_mail.throttle, "hit_many", read_first)
    assert sent_at_once(client, 24).count(201) > 5


def test_mail_for_an_event_of_an_unverified_organiser_is_refused_to_admins_too(client: Client) -> None:
    made = create_event(create_organiser_client(client, verified=False))
    admin = create_signed_in_client(client, create_account("admin"))
    assert read_error(invite(admin, made)) == (409, "SENDER_NOT_VERIFIED")


@pytest.mark.parametrize("field", ["message", "businessName", "stallType"])
def test_no_text_of_an_invitation_holds_a_link(client: Client, field: str) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner)
    assert list_problems(invite(owner, made, **{field: "See win.example.com/x now"})) == {field: "link_not_allowed"}
    assert list_problems(invite(owner, made, message="https://x.example", stallType="kapana.na")) == {
        "message": "link_not_allowed",
        "stallType": "link_not_allowed",
    }
    body = {"merchantIds": [create_merchant_account().id], "message": "www.example.com"}
    assert list_problems(owner.post(f"/api/events/{made['id']}/directory-invites", body)) == {
        "message": "link_not_allowed"
    }
    words = "St. John pays N$ 1.500, Fr. 12.Dez, 9 a.m.; write to office@kapana.com.na"
    assert data(invite(owner, made, **{field: words if field == "message" else words[:60]}), 201)["mailed"] is True


def test_no_name_of_a_guest_is_a_link(client: Client) -> None:
    block = allocations.create_block(client)
    people = [{"name": "Anna", "email": "a@example.org"}, {"name": "Go to evil.shop", "email": "b@example.org"}]
    assert list_problems(block.post("invite", recipients=people)) == {"recipients[1].name": "link_not_allowed"}
    answer = allocations.claim_slot(client, block.codes(1)[0], name="http://x.example")
    assert list_problems(answer) == {"name": "link_not_allowed"}
    made = create_application(client, block.owner)
    declined = {"decision": "declined", "declineReason": "see evil.shop"}
    assert list_problems(block.owner.patch(f"{LIST}/{made['id']}", declined)) == {"declineReason": "link_not_allowed"}


def test_names_that_may_hold_a_domain_are_no_links_in_a_mail(client: Client) -> None:
    owner = create_organiser_client(client)
    data(invite(owner, create_event(owner, name="Party at evil.shop", venue="www.evil.shop")), 201)
    (mail,) = list_mails_to(VICTIM)
    assert "evil.shop" not in mail["text"] + mail["html"] + mail["subject"]
    assert "evil.\u200bshop" in mail["text"]


def test_an_account_sends_so_many_campaigns_a_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign_store, "CAMPAIGNS_PER_DAY", Rule("campaigns-a-day", 2, outgoing_mail.ONE_DAY))
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}/notifications"
    body = {
        "name": "Doors",
        "templateId": "blank",
        "title": "Doors open",
        "body": "See you.",
        "channels": ["email"],
        "sendNow": True,
        "audienceType": "event_ticket_holders",
        "respectPreferences": True,
    }
    draft = data(owner.post(f"{path}/broadcast", {**body, "sendNow": False}), 202)["campaignId"]
    for _ in range(2):
        data(owner.post(f"{path}/broadcast", body), 202)
    assert read_error(owner.post(f"{path}/broadcast", body)) == (429, "MAIL_LIMIT_REACHED")
    assert read_error(owner.patch(f"{path}/campaigns/{draft}", {"sendNow": True})) == (429, "MAIL_LIMIT_REACHED")
    assert data(owner.get(f"{path}/campaigns/{draft}"))["status"] == "draft"
