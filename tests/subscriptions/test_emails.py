"""The mail of a campaign: its content, its headers, and the escaping of texts."""

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
from app.subscriptions.message_links import build_unsubscribe_links
from tests.smtp_sink import Sink, run_smtp_sink

ORGANISER = "6565a1f0c3d2e1b0a9f8e7d6"
TO = "ndapewa@kitchen.example"
BODY = "The gates open at 16:00.\nBring a jacket.\n\n\n  The first band plays at 18:00."
SENDER = CampaignSender(name="Windhoek Lights", reply_to="office@lights.example", event="Night market at the dam")


@pytest.fixture(autouse=True)
def settings(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    test_settings = replace(
        app.extensions["settings"],
        PUBLIC_BASE_URL="https://events.example",
        MAIL_FROM="Event Commerce <no-reply@events.example>",
    )
    monkeypatch.setitem(app.extensions, "settings", test_settings)


@pytest.fixture
def sink(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sink]:
    with run_smtp_sink() as smtp_sink:
        monkeypatch.setitem(app.extensions, "settings", replace(app.extensions["settings"], SMTP_URL=smtp_sink.url))
        yield smtp_sink
        smtp.close_connections()


def render(**fields: Any) -> Message:
    links = build_unsubscribe_links(TO, ORGANISER)
    arguments = {
        "to": TO,
        "key": "campaign:1",
        "sender": SENDER,
        "unsubscribe": links,
        "title": "Doors open earlier",
        "body": BODY,
        **fields,
    }
    return render_campaign_email(**arguments)


class Tags(HTMLParser):
    """The elements of an HTML page by tag name."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, str | None]]] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.setdefault(tag, []).append(dict(attributes))


def test_text_and_html_parts_have_the_same_content() -> None:
    mail = render(href="https://events.example/r/1.0.abc", destination="https://lights.example/x?y=1")
    link = build_unsubscribe_links(TO, ORGANISER).url
    assert mail.subject == "Doors open earlier"
    for text_part in (
        "The gates open at 16:00.",
        "Bring a jacket.",
        "The first band plays at 18:00.",
        "lights.example",
    ):
        assert text_part in mail.text and text_part in mail.html
    assert f"Stop these mails: {link}" in mail.text and f'href="{link}"' in mail.html
    assert mail.html.count('href="https://events.example/r/1.0.abc"') == 2
    assert ">https://events.example/r/1.0.abc</a>" in mail.html
    assert "Read more (the link goes to lights.example):\n\nhttps://events.example/r/1.0.abc\n" in mail.text
    assert "because Windhoek Lights writes to those who hold tickets for Night market at the dam" in mail.text
    assert "\n\n\n" not in mail.text and "it reaches office@lights.example" in mail.text
    assert mail.text.startswith("Doors open earlier\n\nThe gates open at 16:00.\nBring a jacket.\n\nThe first band")


def test_mail_without_link_and_picture() -> None:
    mail = render()
    assert "Read more" not in mail.text + mail.html and "<img" not in mail.html


def test_mail_loads_only_the_picture() -> None:
    address = 'https://events.example/media/a.jpg?x="><script>'
    tags = Tags()
    tags.feed(render(image_url=address, href="https://events.example/x").html)
    assert [item["src"] for item in tags.found["img"]] == [address]
    assert "script" not in tags.found and "link" not in tags.found


def test_same_key_gives_same_message_id() -> None:
    assert render().message_id == render().message_id == "<campaign%3A1@events.example>"
    assert render(key="campaign:2").message_id != render().message_id


def test_mail_has_unsubscribe_headers(sink: Sink) -> None:
    send(render(), fence=lambda: None)
    (received,) = sink.received
    link = build_unsubscribe_links(TO, ORGANISER).url
    assert received.message["List-Unsubscribe"] == f"<{link}>"
    assert received.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert received.message["From"] == "Windhoek Lights via Event Commerce <no-reply@events.example>"
    assert received.message["Reply-To"] == "office@lights.example"
    parts = [part.get_content_type() for part in received.message.walk()]
    assert parts == ["multipart/alternative", "text/plain", "text/html"]
    assert f"List-Unsubscribe: <{link}>\r\n".encode() in received.content


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
def test_hostile_texts_are_escaped(sink: Sink, field: str, text: str) -> None:
    if field in ("sender", "event"):
        arguments: dict[str, Any] = {"sender": replace(SENDER, **{"name" if field == "sender" else field: text[:200]})}
    else:
        arguments = {field: text}
    send(render(**arguments, href="https://events.example/x"), fence=lambda: None)
    (received,) = sink.received
    message = received.message
    assert received.recipients == [TO] and message["Bcc"] is None and message["X"] is None and message["Z"] is None
    header_block = received.content.partition(b"\r\n\r\n")[0]
    assert len(re.findall(rb"(?im)^(subject|from|to|message-id|list-unsubscribe):", header_block)) == 5
    assert max(map(len, received.content.split(b"\r\n"))) <= 998
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None and html is not None
    html_text = html.get_content()
    assert "<script" not in html_text and "onerror=alert(1)>" not in html_text and "<b>body" not in html_text
    assert "49" not in message["Subject"] + (plain.get_content() if field != "body" else "")
    assert len(message["Subject"]) <= 160 and "\n" not in message["Subject"]
    for mark in "\u202e\u2066\u2028":
        assert mark not in html_text + plain.get_content() + message["Subject"] + message["From"]
    if text == HOSTILE["template"] and field == "body":
        assert "{{7*7}} {% raw %} {{ config }}" in plain.get_content() and "{{7*7}}" in html_text
    if text == HOSTILE["rtl"] and field == "title":
        assert message["Subject"] == text and text in html_text and 'dir="auto"' in html_text


def test_title_is_cut_to_160_characters(sink: Sink) -> None:
    send(render(title="a" * 161), fence=lambda: None)
    send(render(title="a" * 160), fence=lambda: None)
    cut_title, whole_title = (received.message["Subject"] for received in sink.received)
    assert cut_title == "a" * 159 + "…" and whole_title == "a" * 160
