"""The mail of a campaign: what it says, and that no text gets out of its place."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from flask import Flask

from app.clients import smtp
from app.clients.mail import send
from app.clients.message import Message
from app.subscriptions.emails import CampaignSender, render_campaign_email
from app.subscriptions.unsubscribe_links import build_unsubscribe_links
from tests.smtp_sink import Sink, running

ORGANISER = "6565a1f0c3d2e1b0a9f8e7d6"
TO = "ndapewa@kitchen.example"
BODY = "The gates open at 16:00.\nBring a jacket.\n\n\n  The first band plays at 18:00."
SENDER = CampaignSender(name="Windhoek Lights", reply_to="office@lights.example", event="Night market at the dam")


@pytest.fixture(autouse=True)
def settings(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(
        app.extensions["settings"],
        PUBLIC_BASE_URL="https://events.example",
        MAIL_FROM="Event Commerce <no-reply@events.example>",
    )
    monkeypatch.setitem(app.extensions, "settings", ours)


@pytest.fixture
def sink(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sink]:
    with running() as started:
        monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], SMTP_URL=started.url))
        yield started
        smtp.close_connections()


def written(**fields: Any) -> Message:
    links = build_unsubscribe_links(TO, ORGANISER)
    given = {
        "to": TO,
        "key": "campaign:1",
        "sender": SENDER,
        "unsubscribe": links,
        "title": "Doors open earlier",
        "body": BODY,
        **fields,
    }
    return render_campaign_email(**given)


class Tags(HTMLParser):
    """The elements of a page as a browser finds them, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, str | None]]] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.setdefault(tag, []).append(dict(attributes))


def test_it_says_all_twice_and_the_text_stands_alone() -> None:
    mail = written(href="https://events.example/r/1.0.abc", leads_to="https://lights.example/x?y=1")
    link = build_unsubscribe_links(TO, ORGANISER).url
    assert mail.subject == "Doors open earlier"
    for words in ("The gates open at 16:00.", "Bring a jacket.", "The first band plays at 18:00.", "lights.example"):
        assert words in mail.text and words in mail.html
    assert f"Stop these mails: {link}" in mail.text and f'href="{link}"' in mail.html
    assert mail.html.count('href="https://events.example/r/1.0.abc"') == 2
    assert ">https://events.example/r/1.0.abc</a>" in mail.html
    assert "Read more (the link goes to lights.example):\n\nhttps://events.example/r/1.0.abc\n" in mail.text
    assert "because Windhoek Lights writes to those who hold tickets for Night market at the dam" in mail.text
    assert "\n\n\n" not in mail.text and "it reaches office@lights.example" in mail.text
    assert mail.text.startswith("Doors open earlier\n\nThe gates open at 16:00.\nBring a jacket.\n\nThe first band")


def test_without_a_link_or_picture_there_is_none() -> None:
    mail = written()
    assert "Read more" not in mail.text + mail.html and "<img" not in mail.html


def test_a_picture_is_the_only_thing_that_is_loaded() -> None:
    address = 'https://events.example/media/a.jpg?x="><script>'
    tags = Tags()
    tags.feed(written(image_url=address, href="https://events.example/x").html)
    assert [item["src"] for item in tags.found["img"]] == [address]
    assert "script" not in tags.found and "link" not in tags.found


def test_the_same_key_is_the_same_message() -> None:
    assert written().message_id == written().message_id == "<campaign%3A1@events.example>"
    assert written(key="campaign:2").message_id != written().message_id


def test_it_arrives_with_the_headers_that_stop_it(sink: Sink) -> None:
    send(written(), fence=lambda: None)
    (got,) = sink.received
    link = build_unsubscribe_links(TO, ORGANISER).url
    assert got.message["List-Unsubscribe"] == f"<{link}>"
    assert got.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert got.message["From"] == "Windhoek Lights via Event Commerce <no-reply@events.example>"
    assert got.message["Reply-To"] == "office@lights.example"
    parts = [part.get_content_type() for part in got.message.walk()]
    assert parts == ["multipart/alternative", "text/plain", "text/html"]
    assert f"List-Unsubscribe: <{link}>\r\n".encode() in got.content


HOSTILE = {
    "template": "{{7*7}} {% raw %} {{ config }} ${7*7} #{7*7}",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)></p></td>",
    "rtl": "مهرجان أضواء ويندهوك – ערב טוב",
    "override": "gpj.exe\u202egnp.\u2066x\u2069 \u2028y",
    "headers": "Hi\r\nBcc: all@evil.example\r\n\r\n<b>body</b>",
    "lonely": "Hi\rX: y\nZ: w\x0b\x0c\x85end",
    "long": "x" * 600,
    "dots": ".\n..\n.\r\n.\r\nQUIT",
    "quotes": "\"'`&lt;&amp;amp; =3D =\n=?utf-8?q?=0d=0aBcc:_x?=",
    "letters": "ǃgâi tsēs ǀ ǁ ǂ 😀 👩‍👩‍👧 ñ Ωφ",
}


@pytest.mark.parametrize("field", ["title", "body", "sender", "event"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_gets_out_of_its_place(sink: Sink, field: str, text: str) -> None:
    if field in ("sender", "event"):
        given: dict[str, Any] = {"sender": replace(SENDER, **{"name" if field == "sender" else field: text[:200]})}
    else:
        given = {field: text}
    send(written(**given, href="https://events.example/x"), fence=lambda: None)
    (got,) = sink.received
    message = got.message
    assert got.recipients == [TO] and message["Bcc"] is None and message["X"] is None and message["Z"] is None
    head = got.content.partition(b"\r\n\r\n")[0]
    assert len(re.findall(rb"(?im)^(subject|from|to|message-id|list-unsubscribe):", head)) == 5
    assert max(map(len, got.content.split(b"\r\n"))) <= 998
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None and html is not None
    shown = html.get_content()
    assert "<script" not in shown and "onerror=alert(1)>" not in shown and "<b>body" not in shown
    assert "49" not in message["Subject"] + (plain.get_content() if field != "body" else "")
    assert len(message["Subject"]) <= 160 and "\n" not in message["Subject"]
    for mark in "\u202e\u2066\u2028":
        assert mark not in shown + plain.get_content() + message["Subject"] + message["From"]
    if text == HOSTILE["template"] and field == "body":
        assert "{{7*7}} {% raw %} {{ config }}" in plain.get_content() and "{{7*7}}" in shown
    if text == HOSTILE["rtl"] and field == "title":
        assert message["Subject"] == text and text in shown and 'dir="auto"' in shown


def test_a_title_keeps_one_line_of_a_hundred_and_sixty(sink: Sink) -> None:
    send(written(title="a" * 161), fence=lambda: None)
    send(written(title="a" * 160), fence=lambda: None)
    cut, whole = (got.message["Subject"] for got in sink.received)
    assert cut == "a" * 159 + "…" and whole == "a" * 160
