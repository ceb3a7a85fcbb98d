"""Rendering of emails from templates."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jinja2 import TemplateError

from app.allocations import emails
from app.clients.email_templates import render_email
from app.clients.mail import Message
from tests.allocations.documents import build_ticket

TEMPLATES = Path(__file__).resolve().parents[2] / "app" / "templates" / "email"
LINK = "https://events.example/reset/" + "t" * 43
ACCOUNTS: dict[str, dict[str, Any]] = {
    "verify_email": {"name": "Ndapewa", "code": "123456", "minutes": 10},
    "reset_code": {"name": "Ndapewa", "code": "904117", "minutes": 10, "reset_url": LINK},
    "codes_blocked": {"name": "Ndapewa", "tries": 20, "hours": 23, "is_password_reset": True, "reset_url": LINK},
    "already_registered": {"name": "Ndapewa", "reset_url": LINK},
    "password_changed": {"name": "Ndapewa"},
    "sessions_ended": {"name": "Ndapewa"},
    "login_throttled": {"name": "Ndapewa", "failures": 10, "minutes": 15},
    "role_added": {"name": "Ndapewa", "role": "organiser"},
    "identity_linked": {"name": "Ndapewa", "provider": "Apple"},
    "identity_unlinked": {"name": "Ndapewa", "provider": "Apple"},
    "welcome_admin": {"name": "Ndapewa", "tier": "support"},
}
RECOVERABLE = (
    "password_changed",
    "sessions_ended",
    "login_throttled",
    "role_added",
    "identity_linked",
    "identity_unlinked",
)


@pytest.fixture(autouse=True)
def settings(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(
        app.extensions["settings"],
        PUBLIC_BASE_URL="https://events.example",
        MAIL_FROM="Event Commerce <no-reply@events.example>",
    )
    monkeypatch.setitem(app.extensions, "settings", ours)


def written(template: str = "verify_email", **fields: Any) -> Message:
    return render_email(template, **{"to": "a@kitchen.example", "key": "k:1", **ACCOUNTS.get(template, {}), **fields})


def words(html: str) -> str:
    body = re.sub(r"(?s)<style.*?</style>|<title>.*?</title>|<[^>]+>", " ", html)
    return " ".join(body.split())


@pytest.mark.parametrize("name", ACCOUNTS)
def test_every_account_mail_is_short_and_complete(name: str) -> None:
    mail = written(name)
    assert 0 < len(mail.subject) < 60
    assert "Hello Ndapewa," in mail.text and "Hello Ndapewa," in mail.html
    assert "You got this mail because" in mail.text and "You got this mail because" in mail.html
    assert mail.text.rstrip().endswith("Event Commerce · events.example")
    assert "!" not in mail.subject + mail.text + words(mail.html)
    assert "\n\n\n" not in mail.text and not re.search(r"[ \t]\n", mail.text)


@pytest.mark.parametrize("name", ACCOUNTS)
def test_the_text_says_all_that_the_html_says(name: str) -> None:
    mail = written(name)
    facts = re.findall(r"https?://\S+?(?=[\s<])|\d[\d ]*\d", words(mail.html) + " ")
    assert all(fact.strip().rstrip("/") in mail.text for fact in facts if fact.strip() != "https://events.example/")


@pytest.mark.parametrize("name", ACCOUNTS)
def test_the_html_loads_nothing_and_watches_nobody(name: str) -> None:
    html = written(name).html
    assert not re.search(r"(?i)<img|<link|<script|url\(|@import|src=", html)
    assert set(re.findall(r'href="(https?://[^/"]+)', html)) <= {"https://events.example"}


@pytest.mark.parametrize("name", sorted(path.stem for path in TEMPLATES.glob("*.txt")))
def test_every_text_has_its_html(name: str) -> None:
    assert name in ("footer", "greeting") or (TEMPLATES / f"{name}.html").exists()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("verify_email", "/verify"),
        ("change_email", "/account/address/code"),
        ("welcome_admin", "/sign-in"),
        ("account_restored", "/sign-in"),
        ("sessions_ended_by_admin", "/sign-in"),
    ],
)
def test_next_step_has_a_button(name: str, path: str) -> None:
    mail = written(
        name, **{"name": "Ndapewa", "code": "123456", "minutes": 10, "why": "", "contact_url": None, "tier": "admin"}
    )
    assert re.search(rf'<a class="button" href="https://events.example{path}"', mail.html)
    assert f"https://events.example{path}" in mail.text


def test_label_and_value_stand_on_one_line(app: Flask) -> None:
    html = emails.build_ticket_email([build_ticket()], key="1").html
    for kind in ("term", "fact"):
        cells = re.findall(rf'<td class="{kind}" style="([^"]*)"', html)
        assert cells and all("vertical-align: baseline" in style for style in cells)


def test_the_subject_has_the_code_in_two_groups() -> None:
    mail = written("verify_email")
    assert mail.subject == "Your code is 123 456"
    assert "123 456" in mail.text and "123 456" in mail.html


@pytest.mark.parametrize("name", RECOVERABLE)
def test_a_warning_links_to_the_way_out_when_there_is_one(name: str) -> None:
    mail = written(name, reset_url=LINK, when="Fri 4 December 2026, 18:00 (Windhoek)")
    assert LINK in mail.text
    assert mail.html.count(f'href="{LINK}"') == 2
    assert f">{LINK}</a>" in mail.html


def test_the_styles_are_inline_and_the_dark_ones_are_kept() -> None:
    html = written("already_registered").html
    assert re.search(r'<a class="button" [^>]*style="[^"]*background: #A84C1B', html)
    assert "prefers-color-scheme: dark" in html


def test_what_people_typed_is_text_and_never_markup() -> None:
    mail = written(name="<b>Bo</b> & Co")
    assert "Hello &lt;b&gt;Bo" in mail.html or "Hello" not in mail.html
    assert "<b>" not in mail.html
    assert "{{" not in written(name="{{ 7 * 7 }}").html.replace("{{ 7 * 7 }}", "")


def test_a_text_is_not_escaped() -> None:
    assert "role Bo & Co's <best>." in written("role_added", role="Bo & Co's <best>").text


@pytest.mark.parametrize(
    "name",
    [
        "Win at https://evil.example",
        "www.evil.example",
        "evil.example",
        "you@evil.example",
        "x" * 61,
    ],
)
def test_a_name_that_advertises_is_left_out(name: str) -> None:
    mail = written(name=name)
    assert name not in mail.text + mail.html
    assert "Hello" not in mail.text + mail.html


@pytest.mark.parametrize("break_", ["\r\n", "\n", "\r", "\u2028", "\x0b", "\x85"])
def test_no_value_can_start_a_line_of_its_own(break_: str) -> None:
    mail = written("role_added", role=f"organiser{break_}Bcc: all@evil.example", sender_name=f"Lights{break_}Bcc: x")
    assert "role organiser Bcc: all@evil.example" in mail.text
    assert mail.sender_name == "Lights Bcc: x"


def test_a_subject_is_one_line_of_at_most_200_characters() -> None:
    mail = written("identity_linked", provider="Apple\r\n" + "x" * 400)
    assert len(mail.subject) == 200
    assert mail.subject.startswith("Apple xxx") and mail.subject.endswith("…")


def test_the_same_key_gives_the_same_message_id() -> None:
    assert written(key="code:9").message_id == written("reset_code", key="code:9").message_id
    assert written(key="code:9").message_id != written(key="code:10").message_id
    assert written().message_id == "<k%3A1@events.example>"


def test_a_merchant_is_called_a_business() -> None:
    mail = written("role_added", role="merchant")
    assert "the role business." in mail.text and "business" in mail.html
    assert "merchant" not in mail.text + mail.html


def test_a_forgotten_value_is_an_error_and_not_a_gap() -> None:
    with pytest.raises(TemplateError):
        render_email("verify_email", to="a@kitchen.example", key="k", name="Ndapewa")


def test_the_reader_learns_whether_an_answer_is_read() -> None:
    assert "Answers to this address are not read." in written().text
    answered = written(reply_to="host@lights.example", sender_name="Windhoek Lights")
    assert "it reaches host@lights.example" in answered.text
    assert 'href="mailto:host@lights.example"' in answered.html
    assert (answered.reply_to, answered.sender_name) == ("host@lights.example", "Windhoek Lights")


def test_a_mail_with_an_unsubscribe_link_explains_it() -> None:
    link = "https://events.example/unsubscribe/abc"
    mail = written(unsubscribe_url=link, headers={"List-Unsubscribe": f"<{link}>"})
    assert f"Stop these mails: {link}" in mail.text
    assert f'href="{link}"' in mail.html
    assert mail.headers == {"List-Unsubscribe": f"<{link}>"}
