"""Activating an account on its page, and what a dead link says."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD, create_customer, list_mails_to, sign_in
from tests.factories.applications import (
    EMAIL,
    LIST,
    create_application,
    create_approved_application,
    create_ready_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.http import Client, data
from tests.pages.pages import Visitor

NEW = "charcoal and a canvas roof"


def aged(days: int) -> None:
    """Makes every link older."""
    with transaction() as session:
        session.execute(text(f"UPDATE application_link SET expires_at = expires_at - interval '{days} days'"))


def test_a_new_merchant_chooses_a_password_and_is_done(client: Client, visitor: Visitor) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    page = visitor.open(f"/activate/{token}?path=/merchants/start")
    assert visitor.forms[0].fields["name"] == "Tuli Hamutenya"
    page = visitor.send(password=NEW, message="See you at gate B.")
    assert page.request.path == "/activate/done"
    assert 'href="/merchants/start">Continue' in page.text
    assert sign_in(client, EMAIL, NEW)["user"]["roles"] == ["merchant"]
    assert list_mails_to(EMAIL)[0]["subject"] == "Windhoek Lights: you are ready"
    page = visitor.open(f"/activate/{token}")
    assert page.status_code == 410 and "<h1>This is already done</h1>" in page.text


def test_who_has_an_account_signs_in_with_its_password(client: Client, visitor: Visitor) -> None:
    create_customer(email=EMAIL)
    token = create_ready_application(client, create_organiser_client(client))
    page = visitor.open(f"/activate/{token}")
    assert "Choose a password, or enter the one you have" in page.text and "account already, under" not in page.text
    page = visitor.send(password="not its password")
    assert page.status_code == 422 and "not the password of the account" in page.text
    assert visitor.send(password=PASSWORD).request.path == "/activate/done"
    assert sign_in(client, EMAIL)["user"]["roles"] == ["customer", "merchant"]


def test_what_is_wrong_is_told_and_what_was_typed_is_kept(client: Client, visitor: Visitor) -> None:
    visitor.open(f"/activate/{create_ready_application(client, create_organiser_client(client))}")
    page = visitor.send(name="", password="2short!", message="Half past six?")
    assert page.status_code == 422
    assert page.text.count("Enter your name.") == 2
    assert page.text.count("Enter a password of at least 8 characters.") == 2
    assert ">Half past six?</textarea>" in page.text and "2short!" not in page.text


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/%2f/evil.example"])
def test_the_page_leads_nowhere_else(client: Client, visitor: Visitor, path: str) -> None:
    visitor.open(f"/activate/{create_ready_application(client, create_organiser_client(client))}")
    page = visitor.send(password=NEW, path=path)
    assert page.status_code == 422 and "Location" not in page.headers


def test_a_link_that_has_had_its_time_offers_a_fresh_one(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    token = create_ready_application(client, owner)
    aged(8)
    page = visitor.open(f"/activate/{token}")
    assert page.status_code == 410 and "t•••@kapana-corner.example" in page.text
    assert "Your approval, and a fee that you have paid, stay." in page.text and "Send me a new link" in page.text
    page = visitor.send()
    assert page.status_code == 200 and "<h1>We have sent you a new link</h1>" in page.text
    fresh = find_mailed_token("activate")
    assert fresh != token
    visitor.open(f"/activate/{token}")
    page = visitor.send()
    assert (page.status_code, visitor.forms) == (429, [])
    visitor.open(f"/activate/{fresh}")
    assert visitor.send(password=NEW).request.path == "/activate/done"


@pytest.mark.parametrize(
    "change", ["starts_at = now() - interval '3 days', ends_at = now() - interval '1 day'", "visibility = 'archived'"]
)
def test_a_dead_link_after_the_event_offers_no_link_that_cannot_be_used(
    client: Client, visitor: Visitor, change: str
) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    aged(8)
    with transaction() as session:
        session.execute(text(f"UPDATE event SET {change}"))
    page = visitor.open(f"/activate/{token}")
    assert (
        page.status_code == 410
        and "<h1>Applications for this event are closed</h1>" in page.text
        and visitor.forms == []
    )
    assert "we cannot send you a new link" in page.text and "Send me a new link" not in page.text


def test_a_dead_link_of_one_kind_mails_what_is_due_now(client: Client, visitor: Visitor) -> None:
    create_approved_application(client, create_organiser_client(client), stallType="Crafts")
    token = find_mailed_token("documents")
    aged(15)
    visitor.open(f"/documents/{token}")
    assert visitor.send().status_code == 200
    newest = list_mails_to(EMAIL)[0]["text"]
    assert "/documents/" in newest and "/pay/" in newest and token not in newest


def test_a_declined_application_has_ended_and_offers_nothing(client: Client, visitor: Visitor, app: Flask) -> None:
    owner = create_organiser_client(client)
    made = create_application(client, owner)
    decide_application(owner, made)
    token = find_mailed_token("documents")
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET status = 'withdrawn'"))
    page = visitor.open(f"/documents/{token}")
    assert page.status_code == 410 and "<h1>This application has ended</h1>" in page.text
    assert visitor.forms == []


def test_without_an_address_the_organiser_forwards_the_link(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    made = create_application(client, owner, email=None, phone=None, contactName=None, amountMinor=0)
    assert "NO_CONTACT" in [
        requirement["code"] for requirement in data(owner.get(f"{LIST}/{made['id']}"))["requirements"]
    ]
    decide_application(owner, made, documentsRequired=[])
    url = data(owner.post(f"{LIST}/{made['id']}/links", {"purpose": "activation"}), 201)["url"]
    visitor.open("/activate/" + url.rpartition("/")[2])
    page = visitor.send(name="Tuli Hamutenya", email="tuli@example.com", password=NEW)
    assert page.request.path == "/activate/done"
    assert sign_in(client, "tuli@example.com", NEW)
    assert any("code" in mail["subject"] for mail in list_mails_to("tuli@example.com"))
