"""Choosing a new password on its page, as a browser without scripts does it."""

import re
from dataclasses import replace

import pytest
import time_machine
from flask import Flask
from werkzeug.test import TestResponse

from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
    sign_in,
)
from tests.factories.events import create_event
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor
from tests.teams.test_api_keys import KEYS, make_key
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import create_team

NEW = "the rain came late to Gobabis"
START = "/reset-password"


def asked(visitor: Visitor, email: str) -> TestResponse:
    """The page that follows when a code was asked for."""
    visitor.open(START)
    return visitor.send(email=email)


def test_the_whole_way_with_the_code_from_the_mail(client: Client, visitor: Visitor) -> None:
    email = create_customer().email
    before = sign_in(client, email)["accessToken"]
    asked(visitor, email)
    code = find_newest_code(email)
    page = visitor.send(code=f" {code[:3]}\u00a0{code[3:]}\n", password=NEW)
    assert (page.status_code, page.request.path) == (200, f"{START}/done")
    assert "<h1>Your password is changed</h1>" in page.text
    assert sign_in(client, email, NEW)
    assert read_error(client.post("/api/auth/login", {"email": email, "password": PASSWORD})) == (
        401,
        "INVALID_CREDENTIALS",
    )
    assert read_error(client.as_(before).get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert list_mails_to(email)[0]["subject"] == "Your password was changed"


def test_an_unknown_address_is_answered_the_same(app: Flask) -> None:
    known, unknown = create_customer().email, "nobody@example.com"
    pages = []
    for email in (known, unknown):
        visitor = Visitor(app.test_client())
        steps = [asked(visitor, email), visitor.send(code="000000", password=NEW), asked(visitor, email)]
        pages.append([(step.status_code, step.request.path, _neutral(step.text, email)) for step in steps])
    assert pages[0] == pages[1]
    assert list_mails_to(unknown) == []


def _neutral(page: str, email: str) -> str:
    """A page without what is each visitor's own."""
    page = re.sub(r'(name="csrf_token" value=")[^"]*', r"\1", page)
    return re.sub(r"\d+ seconds", "some seconds", page.replace(email, "ADDRESS"))


def test_the_summary_leads_to_each_field_and_the_field_says_the_same(visitor: Visitor) -> None:
    asked(visitor, "nobody@example.com")
    page = visitor.send(code="123", password="short")
    assert page.status_code == 422
    assert "<title>Error: Enter the code" in page.text
    summary = page.text[page.text.index('id="summary"') : page.text.index("<h1>")]
    assert re.findall(r'href="#(\w+)"', summary) == ["code", "password"]
    for name in ("code", "password"):
        field = visitor.elements[name]
        assert field["aria-invalid"] == "true"
        assert field["aria-describedby"] == f"{name}-hint {name}-error"
        assert {f"{name}-hint", f"{name}-error"} <= set(visitor.elements)
    assert page.text.count("Choose a password of at least 8 characters.") == 2


def test_what_was_typed_is_kept_and_a_password_never(visitor: Visitor) -> None:
    visitor.open(START)
    page = visitor.send(email='"><script>frieda')
    assert visitor.forms[0].fields["email"] == '"><script>frieda'
    assert "<script>frieda" not in page.text
    asked(visitor, "nobody@example.com")
    page = visitor.send(code="999 99", password=NEW)
    assert visitor.forms[0].fields["code"] == "99999"
    assert NEW not in page.text


def test_fields_tell_the_browser_what_they_are(visitor: Visitor) -> None:
    visitor.open(START)
    assert visitor.elements["email"].items() >= {"type": "email", "autocomplete": "username"}.items()
    asked(visitor, "nobody@example.com")
    code, password = visitor.elements["code"], visitor.elements["password"]
    assert (code["autocomplete"], code["inputmode"], code["type"]) == ("one-time-code", "numeric", "text")
    assert (password["autocomplete"], password["type"]) == ("new-password", "password")
    assert "maxlength" not in code


def test_a_wrong_code_says_what_to_do_and_the_right_one_still_counts(client: Client, visitor: Visitor) -> None:
    email = create_customer().email
    asked(visitor, email)
    code = find_newest_code(email)
    page = visitor.send(code=_other(code), password=NEW)
    assert page.status_code == 422
    assert "Enter the six digits from the newest e-mail" in page.text
    assert visitor.send(code=code, password=NEW).request.path == f"{START}/done"


def test_after_five_wrong_codes_only_a_new_one_helps(visitor: Visitor) -> None:
    email = create_customer().email
    asked(visitor, email)
    code = find_newest_code(email)
    for _ in range(5):
        assert "password" in visitor.forms[0].fields
        page = visitor.send(code=_other(code), password=NEW)
    assert page.status_code == 422
    assert "<h1>Ask for a new code</h1>" in page.text
    assert set(visitor.forms[0].fields) == {"csrf_token", "email"}
    assert "Ask for a new code" in visitor.open(f"{START}/code").text
    page = visitor.send()
    assert page.status_code == 429
    assert "code" not in visitor.elements


def test_asking_again_too_soon_says_for_how_long_to_wait(visitor: Visitor) -> None:
    asked(visitor, "nobody@example.com")
    page = asked(visitor, "nobody@example.com")
    assert page.status_code == 429
    seconds = page.headers["Retry-After"]
    assert page.text.count(f"Try again in {seconds} seconds.") == 2
    assert f'href="{START}/code"' in page.text
    assert visitor.forms[0].fields["email"] == "nobody@example.com"


def test_a_refused_password_does_not_use_the_code_up(
    app: Flask, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    email = create_customer().email
    asked(visitor, email)
    code = find_newest_code(email)
    monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], APP_ENV="production"))
    page = visitor.send(code=code, password="password")
    assert "This one is easy to guess" in page.text
    assert visitor.send(code=code, password=NEW).request.path == f"{START}/done"


def test_the_address_is_forgotten_when_the_code_has_had_its_time(visitor: Visitor) -> None:
    with time_machine.travel(0, tick=False) as clock:
        asked(visitor, "nobody@example.com")
        clock.shift(16 * 60)
        page = visitor.send(code="000000", password=NEW)
    assert "Your code may have expired." in page.text
    assert "nobody@example.com" not in page.text
    assert "email" in visitor.forms[0].fields


@pytest.mark.parametrize(("path", "heading"), [("/code", "Choose a new password"), ("/done", "Choose a new password")])
def test_later_pages_send_those_to_the_start_who_have_not_been_there(visitor: Visitor, path: str, heading: str) -> None:
    visitor.options = {"follow_redirects": True}
    page = visitor.open(START + path)
    assert (page.status_code, f"<h1>{heading}</h1>" in page.text) == (200, True)


def test_no_address_code_or_password_in_addresses_and_logs(visitor: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    email = create_customer().email
    pages = [asked(visitor, email)]
    code = find_newest_code(email)
    caplog.clear()
    pages += [visitor.send(code=_other(code), password=NEW), visitor.send(code=code, password=NEW)]
    for secret in (email, code, NEW):
        assert secret not in caplog.text
    assert all(not step.request.query_string for page in pages for step in (page, *page.history))


def _other(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


@pytest.mark.parametrize(("has_device", "has_key"), [(True, False), (False, True), (True, True)])
def test_the_page_and_the_mail_say_that_devices_and_keys_work_on(
    client: Client, visitor: Visitor, has_device: bool, has_key: bool
) -> None:
    organiser = create_account("organiser")
    owner = create_signed_in_client(client, organiser)
    if has_device:
        pair(client, add_device(owner, create_event(owner)["id"])["pairingCode"])
    if has_key:
        make_key(owner, "gate")
    page = reset_password(visitor, organiser.email)
    mail = list_mails_to(organiser.email)[0]
    for text in (page, mail["text"], mail["html"]):
        assert ("/desk/devices" in text, "/desk/keys" in text) == (has_device, has_key)


def test_nothing_is_said_of_devices_and_keys_that_do_not_work_or_that_the_person_may_not_see(
    client: Client, visitor: Visitor
) -> None:
    owner, _, door = create_team(client, "door")
    event_id = create_event(owner)["id"]
    pair(client, add_device(owner, event_id)["pairingCode"])
    make_key(owner, "gate")
    organiser = create_account("organiser")
    other = create_signed_in_client(client, organiser)
    add_device(other, create_event(other)["id"])
    data(other.delete(f"{KEYS}/{make_key(other, 'gate')['id']}"))
    for email in (door.email, organiser.email):
        assert "/desk/devices" not in (text := reset_password(visitor, email)) and "/desk/keys" not in text
        assert "/desk/keys" not in list_mails_to(email)[0]["text"]


def test_a_manager_hears_of_the_devices_of_their_events(client: Client, visitor: Visitor) -> None:
    owner, manager, account = create_team(client)
    pair(client, add_device(owner, create_event(owner)["id"])["pairingCode"])
    make_key(owner, "gate")
    page = reset_password(visitor, account.email)
    assert "/desk/devices" in page and "/desk/keys" not in page


def test_a_changed_password_says_the_same(client: Client) -> None:
    organiser = create_account("organiser")
    owner = create_signed_in_client(client, organiser)
    make_key(owner, "gate")
    data(owner.post("/api/auth/change-password", {"currentPassword": PASSWORD, "newPassword": NEW}))
    assert "/desk/keys" in list_mails_to(organiser.email)[0]["text"]


def reset_password(visitor: Visitor, email: str) -> str:
    """The last page of a reset with the code of the mail."""
    asked(visitor, email)
    return visitor.send(code=find_newest_code(email), password=NEW).text
