"""The desk in the language of the person: home, an event, a table, a form with errors, and the errors of the frame."""

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.factories.events import create_event
from tests.http import Client
from tests.pages.desk.test_events import EVENTS, HOME, NEW, TYPED
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import add_member

AUDIT, PHONES, TEAM = "/desk/audit", "/desk/events/{id}/gate/phones", "/desk/team"


@pytest.fixture
def german(app: Flask, owner: Account) -> Visitor:
    """The browser of the owner, which asks for German."""
    return speaking_german(sign_in_browser(app, owner))


def speaking_german(visitor: Visitor) -> Visitor:
    visitor.options["headers"] = {"Accept-Language": "de-NA,de;q=0.9,en;q=0.5"}
    return visitor


def test_the_home_is_in_the_language_of_the_browser(client: Client, owner: Account, german: Visitor) -> None:
    page = german.open(HOME)
    assert '<html lang="de"' in page.text and page.headers["Content-Language"] == "de"
    assert "Erste Schritte" in page.text and ">Protokoll</a>" in page.text
    create_event(create_signed_in_client(client, owner))
    assert "Entwurf, noch nicht veröffentlicht" in german.open(HOME).text


def test_the_chosen_language_is_remembered(app: Flask, owner: Account) -> None:
    visitor = sign_in_browser(app, owner)
    page = visitor.open(EVENTS)
    assert "Your events appear here" in page.text and 'href="/desk/events?lang=de" lang="de"' in page.text
    assert "Ihre Veranstaltungen erscheinen hier" in visitor.open(f"{EVENTS}?lang=de").text
    assert "Erste Schritte" in visitor.open(HOME).text
    assert "Eerste stappe" in visitor.open(f"{HOME}?lang=af").text


def test_an_event_and_its_state_are_translated(client: Client, owner: Account, german: Visitor) -> None:
    event = create_event(create_signed_in_client(client, owner), name="River Nights")
    page = german.open(f"{EVENTS}/{event['id']}").text
    assert "<h1>River Nights</h1>" in page and '<span class="tag">Entwurf</span>' in page
    assert ">Ticketarten</a>" in page and "Vor dem Veröffentlichen" in page and "Sept" not in page
    assert "Diese Veranstaltung veröffentlichen?" in german.open(f"{EVENTS}/{event['id']}/state/published").text


def test_a_table_is_translated_with_its_count_and_its_file(client: Client, owner: Account, german: Visitor) -> None:
    organiser = create_signed_in_client(client, owner)
    create_event(organiser)
    assert "1 Veranstaltung ·" in german.open(EVENTS).text
    create_event(organiser)
    page = german.open(EVENTS).text
    assert (
        "2 Veranstaltungen ·" in page and 'data-label="Beginn"' in page and '<span class="tag">Entwurf</span>' in page
    )
    file = german.open(f"{EVENTS}?format=csv").text
    assert file.lstrip("\ufeff").startswith('"Veranstaltung","Status","Beginn"') and '"Entwurf"' in file
    assert "Nichts passt." in german.open(f"{EVENTS}?q=nothing").text


def test_a_form_says_in_german_what_is_wrong_and_what_was_done(german: Visitor) -> None:
    german.open(NEW)
    page = german.send(form=1, name="", startsAt="later")
    assert page.status_code == 422 and "<title>Fehler: Neue Veranstaltung" in page.text
    assert "Geben Sie den Namen der Veranstaltung ein." in page.text
    assert "Beginn: Geben Sie ein Datum und eine Uhrzeit ein." in page.text
    assert "Die Veranstaltung ist angelegt." in german.send(form=1, **TYPED).text


def test_who_may_not_is_told_in_german(app: Flask, client: Client, owner: Account) -> None:
    event, member = create_event(create_signed_in_client(client, owner)), create_customer()
    add_member(client, owner, member, "viewer")
    page = speaking_german(sign_in_browser(app, member)).open(PHONES.format(id=event["id"]))
    assert page.status_code == 403 and "Ihr Konto darf diese Seite nicht öffnen." in page.text


def test_the_audit_trail_and_the_roles_have_german_words(client: Client, owner: Account, german: Visitor) -> None:
    member = create_customer()
    add_member(client, owner, member, "door")
    page = german.open(AUDIT).text
    assert "Mitglied beigetreten" in page and "eine Person" in page and "Mitglied beigetreten</option>" in page
    assert '<span class="tag">Einlass</span>' in german.open(TEAM).text


def test_signing_in_and_up_are_german(app: Flask, visitor: Visitor) -> None:
    speaking_german(visitor)
    assert "<h1>Anmelden</h1>" in visitor.open("/sign-in").text
    visitor.open("/sign-up/organiser")
    page = visitor.send(name="", orgName="", email="", password="")
    assert "Geben Sie den Namen Ihrer Organisation ein." in page.text and "Wählen Sie ein Passwort." in page.text
