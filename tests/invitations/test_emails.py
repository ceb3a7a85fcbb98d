"""Emails of merchants and invitations are short, complete, and the same in text and HTML."""

import re
from typing import Any

import pytest
from flask import Flask

from app.clients.email_templates import render_email
from app.clients.mail import Message

LINK = "http://localhost:8000/merchant-invite/" + "t" * 46
TERMS: dict[str, Any] = {
    "organiser": "Windhoek Lights",
    "event": "Night market at the dam",
    "place": "River grounds, Windhoek",
    "when": "Fri 4 June 2027, 18:00 (Windhoek)",
    "until": "Tue 1 June 2027, 12:00 (Windhoek)",
    "stall": "Food stall",
    "fee": "N$ 12 345.50",
    "lines": ["We keep gate B for you.", "Bring your own lights."],
    "url": LINK,
}
RESET = {"reset_url": "http://localhost:8000/reset-password"}
FIELDS_BY_TEMPLATE: dict[str, dict[str, Any]] = {
    "event_invite": TERMS,
    "event_joined": TERMS,
    "merchant_invite": TERMS,
    "invite_answered": {"accepted": True, "business": "Kapana Corner", "event": "Night market", "reply": ["Gladly."]},
    "payout_details_changed": RESET,
    "merchant_paused": RESET,
    "merchant_deleted": {"until": "Tue 1 June 2027, 12:00 (Windhoek)", "account_id": "5f0c3a9b1d2e4f6a7b8c9d0e"},
}


def render(template: str, **fields: Any) -> Message:
    return render_email(
        template, **{"to": "a@example.com", "key": "k:1", "name": "Ndapewa", **FIELDS_BY_TEMPLATE[template], **fields}
    )


def visible_text(html: str) -> str:
    body = re.sub(r"(?s)<style.*?</style>|<title>.*?</title>|<[^>]+>", " ", html)
    return " ".join(body.replace("&nbsp;", " ").split())


@pytest.mark.parametrize("name", FIELDS_BY_TEMPLATE)
def test_every_email_is_short_and_complete(app: Flask, name: str) -> None:
    mail = render(name)
    assert 0 < len(mail.subject) < 60
    assert "Hello Ndapewa," in mail.text and "Hello Ndapewa," in mail.html
    assert "You got this mail because" in mail.text and "You got this mail because" in mail.html
    assert "!" not in mail.subject + mail.text + visible_text(mail.html)
    assert "\n\n\n" not in mail.text and not re.search(r"[ \t]\n", mail.text)


@pytest.mark.parametrize("name", ["event_invite", "event_joined", "merchant_invite"])
def test_text_and_html_have_the_same_terms(app: Flask, name: str) -> None:
    mail = render(name, sender_name="Windhoek Lights", reply_to="office@lights.example")
    html = visible_text(mail.html)
    for fact in ("when", "place", "stall", "fee"):
        assert TERMS[fact] in mail.text and TERMS[fact] in html, fact
    assert "Bring your own lights." in mail.text and "Bring your own lights." in html
    assert "office@lights.example" in mail.text
    assert (LINK in mail.text, LINK in mail.html) == ((True, True) if name != "event_joined" else (False, False))


@pytest.mark.parametrize("name", ["event_invite", "merchant_invite"])
def test_missing_terms_are_left_out(app: Flask, name: str) -> None:
    mail = render(name, stall="", fee="", lines=[], event="x" * 200)
    assert len(mail.subject) < 60
    for label in ("Stall:", "Fee:", "writes"):
        assert label not in mail.text and label not in visible_text(mail.html)


def test_typed_text_is_escaped(app: Flask) -> None:
    mail = render("merchant_invite", lines=["<b>now</b>"], event="A & B", organiser="<i>Lights</i>")
    assert "<b>now" not in mail.html and "&lt;b&gt;now" in mail.html and "<i>Lights" not in mail.html
    assert "<b>now</b>" in mail.text and "A & B" in mail.subject


def test_declined_answer_says_so(app: Flask) -> None:
    mail = render("invite_answered", accepted=False, reply=[])
    assert mail.subject == "Kapana Corner does not take part" and "They write" not in mail.text
