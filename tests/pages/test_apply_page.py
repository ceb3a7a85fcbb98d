"""Applying for a stall on the page of an event."""

from typing import Any

import pytest
from sqlalchemy import text

from app.applications.actions import drafts, submission
from app.core.throttle import Rule
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.applications import EMAIL, LIST, create_approved_application
from tests.factories.events import create_event, create_organiser_client, create_published_event, update_event
from tests.factories.merchants import create_merchant_account
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.teams.test_organisation_details import BANK
from tests.teams.test_second_factor_rule import ORGANISATION, create_profiled_owner

TYPES = [
    {"name": "Food stall", "feeMinor": 150000, "quantity": 2},
    {"name": "Craft stall", "feeMinor": 60000},
    {"name": "Info stall", "feeMinor": 0, "quantity": 1},
]
TYPED = {
    "businessName": "Kapana Corner",
    "contactName": "Tuli Hamutenya",
    "email": EMAIL,
    "phone": "081 123 4567",
    "stallType": "Food stall",
    "products": "Kapana, fat cakes",
    "description": "A charcoal grill\nunder a canvas roof.",
    "website": "kapana-corner.example",
    "destination": "payrail",
    "payrailMsisdn": "081 123 4567",
}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(client, create_account("organiser", email="office@lights.example"))


def open_form(owner: Client, visitor: Visitor, **fields: Any) -> dict[str, Any]:
    """Opens the form of a new event with three stall types."""
    event = create_published_event(owner, **{"name": "Windhoek Lights", "stallTypes": TYPES, **fields})
    assert visitor.open(f"/apply/{event['id']}").status_code == 200
    return event


def list_applications(owner: Client) -> list[dict[str, Any]]:
    return list(data(owner.get(LIST))["applications"])


def test_form_becomes_an_application(owner: Client, visitor: Visitor) -> None:
    event = open_form(owner, visitor)
    assert "You need no account to apply. Once you are approved" in visitor.page.text
    page = visitor.send(**TYPED)
    (row,) = list_applications(owner)
    assert page.status_code == 200 and "<h1>We have your application</h1>" in page.text
    assert (
        row["reference"] in page.text and "N$\u00a01\u202f500.00" in page.text and "office@lights.example" in page.text
    )
    assert EMAIL not in page.text and "t•••@kapana-corner.example" in page.text
    expected = {
        "eventId": event["id"],
        "businessName": "Kapana Corner",
        "contactName": "Tuli Hamutenya",
        "email": EMAIL,
        "phone": "+264811234567",
        "stallType": "Food stall",
        "amountMinor": 150000,
        "destination": "payrail",
        "products": "Kapana, fat cakes",
        "description": "A charcoal grill\nunder a canvas roof.",
        "website": "https://kapana-corner.example",
        "status": "submitted",
    }
    assert {name: row[name] for name in expected} == expected


def test_a_transfer_is_offered_with_or_without_an_account(client: Client, visitor: Visitor) -> None:
    owner = create_profiled_owner(client)
    event = open_form(owner, visitor)
    assert "Ask the organiser for the bank account later." in visitor.page.text
    data(owner.patch(ORGANISATION, {"bank": BANK, "password": PASSWORD}))
    assert "To the bank account of the organiser." in visitor.open(f"/apply/{event['id']}").text


def test_no_wallet_is_offered_where_only_transfers_are_taken(client: Client, visitor: Visitor) -> None:
    owner = create_profiled_owner(client)
    assert data(owner.patch(ORGANISATION, {"transfersOnly": True}))["transfersOnly"] is True
    open_form(owner, visitor)
    page = visitor.page.text
    assert "The organiser takes the fee by bank transfer." in page and "wallet" not in page.split("<main")[1]
    typed = {name: value for name, value in TYPED.items() if name not in ("destination", "payrailMsisdn")}
    visitor.send(**typed)
    (row,) = list_applications(owner)
    assert (row["destination"], row["payrailMsisdn"]) == ("bank", None)


def test_form_shows_fees_and_how_many_are_left(client: Client, owner: Client, visitor: Visitor) -> None:
    event = open_form(owner, visitor)
    create_approved_application(client, owner, eventId=event["id"], stallType="Food stall", amountMinor=150000)
    create_approved_application(client, owner, eventId=event["id"], stallType="Info stall", amountMinor=0)
    page = visitor.open(f"/apply/{event['id']}").text
    for words in (
        "N$\u00a01\u202f500.00 · 1 place left",
        '<span class="hint">N$\u00a0600.00</span>',
        "No fee · full, you can still apply",
    ):
        assert words in page, words
    assert "We have your application" in visitor.send(**{**TYPED, "stallType": "Info stall"}).text


def test_all_problems_are_named_at_once_and_nothing_is_changed(owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    page = visitor.send(businessName="K", email="nobody", phone="12", website="x", stallType="", destination="gold")
    assert page.status_code == 422
    for words in (
        "Enter your name.",
        "Name of your business: This is too short.",
        "Enter an e-mail address like name@example.com.",
        "Enter a phone number like 081 123 4567.",
        "Choose a kind of stall.",
        "Enter a web address like kapana-corner.example.",
        "Choose one of the choices.",
    ):
        assert words in page.text, words
    assert visitor.forms[0].fields["email"] == "nobody"
    assert list_applications(owner) == []
    page = visitor.send(**{**TYPED, "stallType": "Castle"})
    assert page.status_code == 422 and "Choose one of the choices." in page.text and list_applications(owner) == []


@pytest.mark.parametrize(
    ("typed", "amount_minor"),
    [("", 0), ("1500", 150000), ("N$ 1,500.50", 150050), ("1 500,5", 150050), ("1.500", 150000)],
)
def test_without_stall_types_an_agreed_amount_can_be_typed(
    owner: Client, visitor: Visitor, typed: str, amount_minor: int
) -> None:
    open_form(owner, visitor, stallTypes=[])
    visitor.send(**{**TYPED, "stallType": "Kapana stand", "amount": typed})
    (row,) = list_applications(owner)
    assert (row["stallType"], row["amountMinor"]) == ("Kapana stand", amount_minor)


@pytest.mark.parametrize("typed", ["-5", "much", "1.2.3", "9" * 25, "١٢"])
def test_wrong_amount_is_refused(owner: Client, visitor: Visitor, typed: str) -> None:
    open_form(owner, visitor, stallTypes=[])
    page = visitor.send(**{**TYPED, "amount": typed})
    assert page.status_code == 422 and "Enter an amount like 1500, or leave this empty." in page.text


def test_amount_cannot_be_sent_where_the_list_has_the_fee(owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    visitor.send(**TYPED, amount="1", amountMinor="1")
    assert list_applications(owner)[0]["amountMinor"] == 150000


def test_same_form_sent_twice_is_one_application(owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    first, second = visitor.press(**TYPED), visitor.press(**TYPED)
    assert (first.status_code, second.status_code) == (303, 303)
    assert len(list_applications(owner)) == 1
    visitor.press(**{**TYPED, "stallType": "Craft stall"})
    assert len(list_applications(owner)) == 2
    assert len(list_mails_to(EMAIL)) == 2


def test_same_form_sent_to_two_events_is_two_applications(owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    fields = {**visitor.forms[0].fields, **TYPED}
    visitor.press(**fields)
    open_form(owner, visitor, name="Swakopmund Nights")
    answers = [visitor.press(**fields) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len(list_applications(owner)) == 2


def test_signed_in_merchant_finds_their_contact_filled_in(client: Client, owner: Client, visitor: Visitor) -> None:
    merchant = create_merchant_account("Omaere Crafts", email="maria@omaere.example", phone="+264811112222")
    visitor.open("/sign-in")
    visitor.send(email="maria@omaere.example", password="a quiet evening at Sossusvlei")
    event = open_form(owner, visitor)
    fields = visitor.forms[-1].fields
    assert fields["businessName"] == "Omaere Crafts" and fields["email"] == "maria@omaere.example"
    assert fields["phone"] == "+264811112222" and fields["contactName"] == merchant.name
    visitor.send(form=-1, stallType="Craft stall", destination="bank")
    me = create_signed_in_client(client, merchant)
    (row,) = list_applications(me)
    assert (row["eventId"], row["businessName"]) == (event["id"], "Omaere Crafts")


def test_event_that_takes_no_applications_says_so(owner: Client, visitor: Visitor) -> None:
    cancelled, past = create_published_event(owner), create_published_event(owner, name="Last year")
    update_event(owner, cancelled, visibility="cancelled")
    with transaction() as session:
        past_sql = "UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() WHERE id = :id"
        session.execute(text(past_sql), {"id": past["id"]})
    page = visitor.open(f"/apply/{past['id']}")
    assert page.status_code == 410 and "This event is over" in page.text and "office@lights.example" in page.text
    for event_id in (cancelled["id"], create_event(owner)["id"], "5f0c3a9b1d2e4f6a7b8c9d0e", "x", "%00"):
        page = visitor.open(f"/apply/{event_id}")
        assert page.status_code == 404, event_id
    assert "There is no public event at this address." in visitor.open(f"/apply/{cancelled['id']}").text


def test_event_that_ends_while_the_form_is_open_takes_no_application(owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    with transaction() as session:
        session.execute(text("UPDATE event SET starts_at = now() - interval '2 days', ends_at = now()"))
    page = visitor.send(**TYPED)
    assert page.status_code == 410 and "This event is over" in page.text
    assert list_applications(owner) == []


def test_page_after_sending_needs_an_application(visitor: Visitor) -> None:
    assert visitor.open("/apply/sent").status_code == 303


def test_applicant_and_organiser_get_mail(client: Client, owner: Client, visitor: Visitor) -> None:
    open_form(owner, visitor)
    visitor.send(**TYPED)
    reference = list_applications(owner)[0]["reference"]
    (mail,) = list_mails_to(EMAIL)
    assert mail["subject"] == "Windhoek Lights: we have your application"
    for part in (mail["text"], mail["html"]):
        assert reference in part and "The organiser decides about it." in part and "1\u202f500.00" in part
    (note,) = list_mails_to("office@lights.example")
    assert note["subject"] == "Windhoek Lights: 1 new application"
    assert f"Kapana Corner, Food stall, N$\u00a01\u202f500.00, {reference}" in note["text"]
    path = f"/desk/events/{list_applications(owner)[0]['eventId']}/stalls"
    assert f"See the applications:\nhttp://localhost:8000{path}\n" in note["text"] and f'{path}"' in note["html"]


def test_organiser_gets_one_note_an_hour(owner: Client, client: Client) -> None:
    event = create_published_event(owner, name="Windhoek Lights")
    for number in range(4):
        body = {"eventId": event["id"], "businessName": f"Stall {number}", "email": f"s{number}@example.com"}
        data(client.post(LIST, {"amountMinor": 0, "destination": "bank", "mode": "now", **body}), 201)
        run_jobs()
    assert len(list_mails_to("office@lights.example")) == 1
    with transaction() as session:
        queued = "SELECT run_at > now() FROM outbox WHERE kind = 'applications.mail_new' AND state = 'ready'"
        assert session.scalars(text(queued)).all() == [True]
        session.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'applications.mail_new'"))
    newest = list_mails_to("office@lights.example")[0]
    assert newest["subject"] == "Windhoek Lights: 3 new applications"
    assert "Stall 0" not in newest["text"] and "Stall 3, no fee" in newest["text"]
    assert "4 applications for this event wait for your decision." in newest["text"]


def test_organiser_without_a_verified_address_gets_no_note(client: Client) -> None:
    organiser = create_account("organiser", email="new@lights.example")
    event = create_published_event(create_signed_in_client(client, organiser))
    with transaction() as session:
        session.execute(text("UPDATE account SET email_verified_at = NULL"))
    create = {"amountMinor": 0, "destination": "bank", "mode": "now", "eventId": event["id"], "email": EMAIL}
    data(client.post(LIST, create), 201)
    assert list_mails_to("new@lights.example") == [] and list_mails_to(EMAIL) == []


def test_stranger_cannot_fill_a_mailbox_with_acknowledgements(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = submission.ACKNOWLEDGEMENTS
    monkeypatch.setattr(submission, "ACKNOWLEDGEMENTS", Rule(rule.name, 2, rule.window))
    for _ in range(4):
        event = create_published_event(create_organiser_client(client))
        create = {"amountMinor": 0, "destination": "bank", "mode": "now", "eventId": event["id"], "email": EMAIL}
        data(client.post(LIST, create), 201)
    assert len(list_mails_to(EMAIL)) == 2


def test_stranger_cannot_mail_many_people_in_the_name_of_an_event(
    owner: Client, client: Client, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = submission.MAILS_PER_EVENT
    for module in (submission, drafts):
        monkeypatch.setattr(module, "MAILS_PER_EVENT", Rule(rule.name, 2, rule.window))
    event = create_published_event(owner, stallTypes=TYPES)
    body = {"amountMinor": 150000, "stallType": "Food stall", "destination": "bank", "mode": "now"}
    emails = [f"stranger{number}@example.com" for number in range(3)]
    for email in emails:
        data(client.post(LIST, {**body, "eventId": event["id"], "email": email}), 201)
    assert [len(list_mails_to(email)) for email in emails] == [1, 1, 0]
    visitor.open(f"/apply/{event['id']}")
    page = visitor.send(email="another@example.com", later="1")
    assert page.status_code == 429 and list_mails_to("another@example.com") == []
