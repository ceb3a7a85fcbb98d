"""The language of pages, of the mails and documents that follow them, and what stays English."""

from datetime import timedelta

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.allocations.documents import build_ticket
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client, list_mails_to
from tests.factories.applications import (
    CODE,
    EMAIL,
    build_activation_body,
    create_approved_application,
    create_ready_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.factories.payouts import advance_time, execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_claim_page import GUEST, a_block, allocator_link, invited, open_link

RESET = "/reset-password"
HEADINGS = {"en": "Choose a new password", "af": "Kies ’n nuwe wagwoord", "de": "Neues Passwort wählen"}


def speaking(app: Flask, languages: str) -> Visitor:
    """A visitor whose browser asks for these languages."""
    return Visitor(app.test_client(), {"headers": {"Accept-Language": languages}})


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-NA,de;q=0.9,en;q=0.5", "de"),
        ("af", "af"),
        ("fr, pt;q=0.9", "en"),
        ("fr, af;q=0.4", "af"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_a_page_has_the_first_language_of_the_browser_that_exists(app: Flask, accepted: str, language: str) -> None:
    page = speaking(app, accepted).open(RESET)
    assert f"<h1>{HEADINGS[language]}</h1>" in page.text and f'<html lang="{language}"' in page.text
    assert page.headers["Content-Language"] == language and "Accept-Language" in page.vary


def test_the_chosen_language_is_remembered(app: Flask) -> None:
    visitor = speaking(app, "de")
    page = visitor.open(RESET)
    assert 'href="/reset-password?lang=af" lang="af"' in page.text
    assert HEADINGS["af"] in visitor.open(f"{RESET}?lang=af").text
    assert HEADINGS["af"] in visitor.open(RESET).text
    assert HEADINGS["af"] in visitor.open(f"{RESET}?lang=xx").text
    assert HEADINGS["en"] in visitor.open(f"{RESET}?lang=en").text


def test_a_link_to_a_language_keeps_the_query(app: Flask) -> None:
    page = speaking(app, "de").open(f"{RESET}?a=1%26b&lang=en")
    assert 'href="/reset-password?a=1%26b&amp;lang=de"' in page.text


def test_an_address_that_only_takes_forms_has_no_links_to_languages(client: Client, visitor: Visitor) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    visitor.open(f"/pay/{find_mailed_token('pay')}")
    assert "?lang=de" in visitor.send().text
    page = visitor.send(code="1")
    assert page.status_code == 422 and "?lang=" not in page.text


def test_a_form_with_errors_has_links_to_languages(visitor: Visitor) -> None:
    visitor.open(RESET)
    assert 'href="/reset-password?lang=de"' in visitor.send(email="nobody").text


def test_errors_of_forms_are_translated(app: Flask) -> None:
    visitor = speaking(app, "de")
    visitor.open(RESET)
    page = visitor.send(email="nobody")
    assert "Geben Sie eine E-Mail-Adresse ein wie name@example.com." in page.text and "Es gibt ein Problem" in page.text
    assert "<title>Fehler: Neues Passwort wählen" in page.text


def test_the_page_of_a_form_without_its_token_is_translated(app: Flask) -> None:
    page = speaking(app, "af").flask.post(RESET, headers={"Accept-Language": "af"})
    assert page.status_code == 400 and "Hierdie bladsy was te lank oop" in page.text


def test_a_time_to_wait_is_translated(app: Flask) -> None:
    create_customer(email="frieda@example.com")
    visitor = speaking(app, "de")
    for _ in range(2):
        visitor.open(RESET)
        page = visitor.send(email="frieda@example.com")
    assert "Wir haben gerade einen Code gesendet." in page.text and "Versuchen Sie es in " in page.text
    assert "Sekunden noch einmal." in page.text


def test_unknown_addresses_and_links_are_translated(app: Flask) -> None:
    visitor = speaking(app, "de")
    assert (
        "<h1>Seite nicht gefunden</h1>"
        in visitor.flask.get("/nix", headers={"Accept": "text/html", "Accept-Language": "de"}).text
    )
    assert "<h1>Dieser Link ist unvollständig</h1>" in visitor.open("/claim/unknown").text


def test_pages_for_developers_are_english(app: Flask) -> None:
    for path in ("/docs", "/dev/mail"):
        page = speaking(app, "de").open(path)
        assert (
            '<html lang="en"' in page.text and "lang=de" not in page.text and page.headers["Content-Language"] == "en"
        )


def test_the_api_is_english(client: Client) -> None:
    german = client.with_(Accept_Language="de")
    response = german.post("/api/auth/login", {"email": "x@example.com", "password": "y" * 9})
    assert response.get_json()["message"].startswith("Address or password is wrong")
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    fee = data(german.get(f"/api/merchant-applications/pay/{find_mailed_token('pay')}"))
    assert fee["amount"] == "N$\u00a02\u202f500.00" if "amount" in fee else fee["amountMinor"] == 250_000
    response = german.get("/api/events/public/discover")
    assert "Accept-Language" not in response.headers.get("Vary", "") and "Content-Language" not in response.headers


@pytest.mark.parametrize(
    ("language", "button", "heading", "subject", "day"),
    [
        ("af", "Kry my kaartjie", "<h1>Jou kaartjie</h1>", "Windhoek Lights: jou kaartjie", " Desember 2"),
        ("de", "Mein Ticket annehmen", "<h1>Ihr Ticket</h1>", "Windhoek Lights: Ihr Ticket", ". Dezember 2"),
    ],
)
def test_a_ticket_and_its_mail_have_the_language_of_the_claim(
    client: Client, app: Flask, language: str, button: str, heading: str, subject: str, day: str
) -> None:
    owner, block, _ = a_block(client)
    visitor = speaking(app, language)
    path = invited(owner, block)
    assert button in visitor.open(path).text
    assert heading in visitor.send(delivery="e_ticket").text
    mail = list_mails_to(GUEST["email"])[0]
    assert mail["subject"] == subject
    assert f'<html lang="{language}"' in mail["html"] and "You got this mail" not in mail["text"]
    pdf = visitor.open(f"{visitor.open(path).headers['Location']}/ticket.pdf")
    assert f"/Lang ({language})".encode() in pdf.data


def test_a_guest_of_the_holder_gets_mail_in_the_language_of_the_page(client: Client, app: Flask) -> None:
    owner, block, _ = a_block(client)
    visitor = speaking(app, "de")
    visitor.open(allocator_link(owner, block))
    assert "Frieda Amupolo hat ein Ticket." in visitor.send(**GUEST).text
    assert list_mails_to(GUEST["email"])[0]["subject"] == "Windhoek Lights: Ihr Ticket"


def test_guests_of_a_list_get_mail_in_the_language_of_the_page(client: Client, app: Flask) -> None:
    owner, block, _ = a_block(client)
    visitor = speaking(app, "de")
    visitor.open(f"{allocator_link(owner, block)}/several")
    visitor.send(recipients=f"Frieda, {GUEST['email']}")
    visitor.send(send="true")
    assert list_mails_to(GUEST["email"])[0]["subject"] == "Windhoek Lights: Ihr Ticket"


def test_a_claim_by_the_api_is_answered_in_english(client: Client) -> None:
    owner, block, _ = a_block(client)
    token = open_link(owner, block).rpartition("/")[2]
    german = client.with_(Accept_Language="de")
    data(german.post(f"/api/allocations/claim/{token}", {"name": "Frieda", "email": "frieda@guest.example"}))
    assert list_mails_to("frieda@guest.example")[0]["subject"] == "Windhoek Lights: your ticket"


def test_amounts_days_and_the_receipt_follow_the_language(client: Client, app: Flask) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    visitor = speaking(app, "de")
    page = visitor.open(f"/pay/{find_mailed_token('pay')}")
    assert "N$\u00a02\u202f500,00" in page.text and "Bezahlen aus <strong>••••4567</strong>" in page.text
    assert "Er gilt für 10 Minuten." in visitor.send().text.replace("5 Minuten", "10 Minuten")
    assert "Ihre Standgebühr ist bezahlt" in visitor.send(code=CODE).text
    activation, receipt = list_mails_to(EMAIL)[:2]
    assert activation["subject"] == "Windhoek Lights: Konto aktivieren"
    assert receipt["subject"] == "Windhoek Lights: Quittung über N$\u00a02\u202f500,00"
    assert receipt["attachments"][0]["name"].startswith("Invoice STL-")


def test_a_code_has_the_language_of_the_page(app: Flask) -> None:
    create_customer(email="frieda@example.com")
    visitor = speaking(app, "af")
    visitor.open(RESET)
    visitor.send(email="frieda@example.com")
    mail = list_mails_to("frieda@example.com")[0]
    assert mail["subject"].startswith("Jou kode is ") and "Kies ’n nuwe wagwoord" in mail["html"]


def test_the_language_of_a_merchant_goes_before_that_of_the_page(client: Client, app: Flask) -> None:
    merchant = create_merchant_account()
    _set_language(client, merchant, "de-NA")
    visitor = speaking(app, "af")
    visitor.open(RESET)
    visitor.send(email=merchant.email)
    assert list_mails_to(merchant.email)[0]["subject"].startswith("Ihr Code ist ")


def test_a_language_without_a_catalogue_is_english(client: Client, app: Flask) -> None:
    merchant = create_merchant_account()
    _set_language(client, merchant, "fr")
    data(client.post("/api/auth/password-reset/request", {"email": merchant.email}))
    assert list_mails_to(merchant.email)[0]["subject"].startswith("Your code is ")


def test_a_mail_that_is_not_translated_is_english_in_all_its_parts(client: Client) -> None:
    merchant = create_merchant_account()
    me = _set_language(client, merchant, "de")
    update_merchant(me, payoutDetails={"destination": "payrail", "msisdn": "+264811234567"})
    mail = list_mails_to(merchant.email)[0]
    assert '<html lang="en"' in mail["html"] and "Such mails cannot be switched off." in mail["text"]
    assert "Antworten an diese Adresse" not in mail["text"]


def test_fonts_of_documents_have_the_letters_of_each_language(app: Flask) -> None:
    from app.allocations.ticket_pdf import draw_ticket_pdf
    from app.core.pdf_text import printable

    letters = "ä ö ü ß Ä Ö Ü ê ë ô û é è ’ ‑ „ “ – ǃ"
    assert printable(letters) == letters
    assert draw_ticket_pdf([build_ticket(name=letters)]).startswith(b"%PDF-")


def _set_language(client: Client, merchant: Account, tag: str) -> Client:
    me = create_signed_in_client(client, merchant)
    update_merchant(me, settings={"language": tag})
    return me


def test_a_code_that_has_to_wait_keeps_the_language_of_the_page(app: Flask) -> None:
    account = create_customer()
    subjects = []
    for _ in range(2):
        visitor = speaking(app, "de")
        visitor.open(RESET)
        visitor.send(email=account.email)
        execute_sql("UPDATE one_time_code SET sent_at = sent_at - interval '61 seconds'")
        advance_time(timedelta(seconds=61))
        subjects.append(list_mails_to(account.email)[0]["subject"])
    assert len(list_mails_to(account.email)) == 2
    assert subjects[0].split()[0] == subjects[1].split()[0] == "Ihr"


def test_a_signed_in_person_sees_the_language_of_their_account(client: Client, app: Flask) -> None:
    merchant = create_merchant_account()
    visitor = speaking(app, "af")
    _sign_in(visitor, merchant)
    assert '<html lang="af"' in visitor.open("/stall").text
    _set_language(client, merchant, "de-NA")
    page = visitor.open("/stall")
    assert '<html lang="de"' in page.text and "Jetzt gibt es nichts zu tun" in page.text


def test_the_chosen_language_goes_before_that_of_the_account_and_stays_after_signing_in(
    client: Client, app: Flask
) -> None:
    merchant = create_merchant_account()
    _set_language(client, merchant, "de")
    visitor = speaking(app, "en")
    visitor.open(f"{RESET}?lang=af")
    _sign_in(visitor, merchant)
    assert '<html lang="af"' in visitor.open("/stall").text
    assert '<html lang="en"' in visitor.open("/stall?lang=en").text


def test_the_account_follows_the_language_that_was_chosen_at_another_page(app: Flask) -> None:
    visitor = speaking(app, "en")
    _sign_in(visitor, create_customer())
    visitor.open("/invitations?lang=de")
    page = visitor.open("/account")
    assert '<html lang="de"' in page.text and "<h1>Ihr Konto</h1>" in page.text
    assert 'href="/account?lang=af" lang="af"' in page.text
    for path in ("details", "address", "password", "second-factor", "sessions", "identities", "team", "data"):
        assert '<html lang="de"' in visitor.open(f"/account/{path}").text
    assert "<h1>Jou rekening</h1>" in visitor.open("/account?lang=af").text


def _sign_in(visitor: Visitor, account: Account) -> None:
    visitor.open("/sign-in")
    visitor.send(email=account.email, password=PASSWORD)


@pytest.mark.parametrize(("accepted", "stored"), [("de-NA", "de"), ("af", "af"), ("en", None), ("fr", None)])
def test_account_opened_by_an_activation_link_keeps_the_language(
    client: Client, app: Flask, accepted: str, stored: str | None
) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    visitor = speaking(app, accepted)
    visitor.open(f"/activate/{token}")
    visitor.send(password=PASSWORD)
    assert fetch_scalar("SELECT language FROM account WHERE email = :email", email=EMAIL) == stored
    later = Visitor(app.test_client(), {"headers": {"Accept-Language": "fr"}})
    later.open("/sign-in")
    later.send(email=EMAIL, password=PASSWORD)
    assert f'<html lang="{stored or "en"}"' in later.open("/stall").text


def test_account_opened_over_the_api_has_the_language_of_the_application(client: Client) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    execute_sql("UPDATE merchant_application SET language = 'af'")
    data(client.post(f"/api/merchant-activation/{token}", build_activation_body()))
    assert fetch_scalar("SELECT language FROM account WHERE email = :email", email=EMAIL) == "af"


def test_sign_up_pages_keep_the_language_that_was_chosen_before(app: Flask) -> None:
    visitor = speaking(app, "en")
    visitor.open(f"{RESET}?lang=de")
    visitor.open("/sign-up/merchant")
    visitor.send(name="Ndapewa Iita", businessName="Kapana Corner", email="ndapewa@example.com", password=PASSWORD)
    assert fetch_scalar("SELECT language FROM account WHERE email = 'ndapewa@example.com'") == "de"
