"""Opening an account and confirming its address on the pages, as a browser without scripts does it."""

import re

import pytest
import time_machine
from flask import Flask
from werkzeug.test import TestResponse

from app.blueprints.pages.sign_up import KINDS
from tests.factories.accounts import PASSWORD, create_customer, find_newest_code, list_mails_to, sign_in
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.pages import Visitor

EMAIL = "ndapewa@example.com"
LET_A_MINUTE_PASS = "UPDATE one_time_code SET sent_at = sent_at - interval '61 seconds'"
FIELDS = {
    "organiser": {"name": "Ndapewa Iita", "orgName": "Etosha Nights"},
    "merchant": {"name": "Ndapewa Iita", "businessName": "Kapana Corner"},
    "customer": {"firstName": "Ndapewa", "lastName": "Iita"},
}


def sign_up(visitor: Visitor, kind: str = "organiser", email: str = EMAIL, **fields: str) -> TestResponse:
    visitor.open(f"/sign-up/{kind}")
    return visitor.send(**{"email": email, "password": PASSWORD, **FIELDS[kind], **fields})


@pytest.mark.parametrize("kind", FIELDS)
def test_from_the_start_page_to_the_account_in_a_browser_alone(client: Client, visitor: Visitor, kind: str) -> None:
    assert 'href="/sign-up"' in visitor.open("/").text
    assert f'href="/sign-up/{kind}"' in visitor.open("/sign-up").text
    page = sign_up(visitor, kind)
    assert (page.status_code, page.request.path) == (200, "/verify") and EMAIL in page.text
    code = find_newest_code(EMAIL)
    page = visitor.send(code=f"{code[:3]} {code[3:]}")
    assert "Your e-mail address is confirmed." in page.text
    assert page.request.path == {"merchant": "/stall", "organiser": "/desk"}.get(kind, "/account")
    assert "Confirm your e-mail address" not in page.text
    profile = data(client.as_(sign_in(client, EMAIL)["accessToken"]).get("/api/auth/me"))
    assert (profile["roles"], profile["emailVerified"]) == ([kind], True)


def test_the_answer_does_not_say_whether_an_address_has_an_account(app: Flask) -> None:
    known, unknown = create_customer().email, "nobody@example.com"
    pages = []
    for email in (known, unknown):
        page = sign_up(Visitor(app.test_client()), email=email)
        text = re.sub(r'(csrf_token" value=")[^"]*', "", page.text).replace(email, "ADDRESS")
        pages.append((page.status_code, page.request.path, text))
    assert pages[0] == pages[1]
    mail = list_mails_to(known)[0]
    assert "already" in mail["subject"] and "/sign-in" in mail["text"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_wrong_field_is_named(visitor: Visitor, kind: str) -> None:
    visitor.open(f"/sign-up/{kind}")
    page = visitor.send(email="frieda", password="short", phone="12")
    assert page.status_code == 422
    wrong = re.findall(r'href="#(\w+)"', page.text[page.text.index('id="summary"') : page.text.index("<h1>")])
    assert {*FIELDS[kind], "email", "password", "phone"} == set(wrong)
    assert "Must " not in page.text, "a message for people"


def test_an_unknown_kind_is_not_found(visitor: Visitor) -> None:
    for kind in ("admin", "x"):
        assert visitor.open(f"/sign-up/{kind}").status_code == 404


def test_a_wrong_code_says_what_to_do_and_the_right_one_still_counts(visitor: Visitor) -> None:
    sign_up(visitor)
    code = find_newest_code(EMAIL)
    page = visitor.send(code=f"{(int(code) + 1) % 1_000_000:06d}")
    assert page.status_code == 422 and "Enter the six digits from the newest e-mail" in page.text
    assert visitor.send(code=code).request.path == "/desk"


def test_another_browser_confirms_the_address_and_asks_for_the_password(app: Flask, visitor: Visitor) -> None:
    sign_up(visitor)
    other = Visitor(app.test_client())
    other.open("/verify")
    execute_sql(LET_A_MINUTE_PASS)
    other.send(email=EMAIL)
    page = other.send(code=find_newest_code(EMAIL))
    assert page.request.path == "/sign-in" and "You can sign in now." in page.text
    assert other.forms[0].fields["email"] == EMAIL
    assert visitor.open("/verify").request.path == "/verify", "and signs nobody else in"


def test_a_new_code_signs_in_as_well(visitor: Visitor) -> None:
    sign_up(visitor)
    execute_sql(LET_A_MINUTE_PASS)
    visitor.send(form=1)
    assert visitor.send(code=find_newest_code(EMAIL)).request.path == "/desk"


def test_who_registers_the_address_later_gives_nobody_their_account(app: Flask, visitor: Visitor) -> None:
    """The account of the newest registration has a password that only somebody else knows."""
    sign_up(visitor)
    execute_sql(LET_A_MINUTE_PASS)
    sign_up(Visitor(app.test_client()), password="what only the other one knows")
    visitor.open("/verify")
    page = visitor.send(code=find_newest_code(EMAIL))
    assert page.request.path == "/sign-in" and "You can sign in now." in page.text
    assert visitor.open("/account").status_code == 303, "to sign in"


def test_a_known_address_signs_nobody_in(visitor: Visitor) -> None:
    """The account and its password are of who has registered before."""
    email = create_customer().email
    sign_up(visitor, email=email)
    assert visitor.send(code="000000").status_code == 422
    assert visitor.open("/account").status_code == 303, "to sign in"


def test_five_wrong_codes_lead_to_a_new_one(visitor: Visitor) -> None:
    sign_up(visitor, "customer")
    for _ in range(4):
        assert "Enter the six digits from the newest e-mail" in visitor.send(code="000000").text
    page = visitor.send(code="000000")
    assert "You entered five wrong codes" in page.text and "Send me a new code" in page.text
    assert [form.action.split("?")[0] for form in visitor.forms] == ["/verify/send"]
    page = visitor.send()
    assert page.status_code == 429 and "Try again in" in page.text and "You entered five wrong codes" in page.text


def test_a_new_code_too_soon_says_for_how_long_to_wait(visitor: Visitor) -> None:
    sign_up(visitor)
    page = visitor.send(form=1)
    assert page.status_code == 429 and "Try again in" in page.text and EMAIL in page.text


def test_the_address_is_forgotten_after_an_hour_and_can_be_entered_again(visitor: Visitor) -> None:
    with time_machine.travel(0, tick=False) as clock:
        sign_up(visitor)
        clock.shift(3601)
        page = visitor.open("/verify")
        assert EMAIL not in page.text
        page = visitor.send(email=EMAIL)
    assert page.request.path in ("/verify", "/verify/send") and EMAIL in page.text


def test_a_person_who_is_signed_in_confirms_later(visitor: Visitor) -> None:
    email = create_customer(verified=False).email
    visitor.open("/sign-in")
    assert 'href="/verify"' in visitor.send(email=email, password=PASSWORD).text
    visitor.open("/verify")
    visitor.send(form=2)
    page = visitor.send(form=1, code=find_newest_code(email))
    assert page.request.path == "/account" and "Your e-mail address is confirmed." in page.text


def test_a_signed_in_person_adds_a_role_with_their_own_password(client: Client, visitor: Visitor) -> None:
    email = create_customer().email
    visitor.open("/sign-in")
    visitor.send(email=email, password=PASSWORD)
    visitor.open("/sign-up/organiser")
    assert visitor.forms[1].fields["email"] == email
    page = visitor.send(form=1, orgName="Etosha Nights", password="not the own password")
    assert page.status_code == 422 and "Enter the password of your account." in page.text
    page = visitor.send(form=1, orgName="Etosha Nights", password=PASSWORD)
    assert page.request.path == "/account" and "as an organiser" in page.text
    assert sign_in(client, email)["user"]["roles"] == ["customer", "organiser"]


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/%2fevil.example"])
def test_the_page_after_signing_up_is_one_of_this_site(visitor: Visitor, target: str) -> None:
    visitor.open(f"/sign-up/customer?next={target}")
    token = visitor.forms[0].fields["csrf_token"]
    fields = {"csrf_token": token, "email": EMAIL, "password": PASSWORD, **FIELDS["customer"]}
    visitor.flask.post("/sign-up/customer", query_string={"next": target}, data=fields)
    fields = {"csrf_token": token, "code": find_newest_code(EMAIL)}
    answer = visitor.flask.post("/verify", query_string={"next": target}, data=fields)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")


def test_an_expired_form_leads_back_to_its_page_with_what_comes_next(visitor: Visitor) -> None:
    page = visitor.flask.post("/sign-up/customer?next=/join/x")
    assert page.status_code == 400 and 'href="/sign-up/customer?next=/join/x"' in page.text
