"""Content of mails as an SMTP server receives it."""

from email import message_from_bytes, policy
from email.header import decode_header, make_header
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.clients import dev_mailbox
from app.clients.mail import Attachment, message_id, send
from app.core.jobs import Permanent, Transient
from tests.clients.mails import configure, mail, no_fence
from tests.smtp_sink import Received, Sink, run_smtp_sink

pytestmark = pytest.mark.usefixtures("mailing")


def test_a_mail_arrives_with_text_first_and_html_beside_it(sink: Sink) -> None:
    send(mail(), fence=no_fence)
    [got] = sink.received
    assert (got.sender, got.recipients) == ("no-reply@events.example", ["ndapewa@kitchen.example"])
    assert got.message["Subject"] == "Your code is 123 456"
    assert got.message["From"] == "Event Commerce <no-reply@events.example>"
    assert got.message["Auto-Submitted"] == "auto-generated"
    assert got.message["Date"]
    assert got.message.get_content_type() == "multipart/alternative"
    text, html = got.message.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert (text.get_content(), html.get_content()) == ("123 456\n", "<p>123 456</p>\n")


def test_the_same_key_gives_the_same_message_id(sink: Sink) -> None:
    for _ in range(2):
        send(mail(message_id=message_id("accounts.code:65f0:3")), fence=no_fence)
    first, second = (got.message["Message-ID"] for got in sink.received)
    assert first == second == "<accounts.code%3A65f0%3A3@events.example>"


def test_a_long_message_id_is_neither_folded_nor_encoded(sink: Sink) -> None:
    long = message_id("k" * 200)
    send(mail(message_id=long), fence=no_fence)
    assert f"Message-ID: {long}\r\n".encode() in sink.received[0].content


def test_unsubscribe_links_stay_readable_however_long(sink: Sink) -> None:
    link = f"<https://events.example/unsubscribe/{'t' * 120}>"
    headers = {"List-Unsubscribe": link, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    send(mail(headers=headers, reply_to="host@lights.example"), fence=no_fence)
    assert f"List-Unsubscribe: {link}\r\n".encode() in sink.received[0].content
    assert sink.received[0].message["Reply-To"] == "host@lights.example"


def test_the_organiser_is_named_as_sending_via_the_service(sink: Sink) -> None:
    send(mail(sender_name="Café ǃkhung, Windhoek"), fence=no_fence)
    sender = sink.received[0].message["From"].addresses[0]
    assert sender.display_name == "Café ǃkhung, Windhoek via Event Commerce"
    assert sender.addr_spec == "no-reply@events.example"


def test_text_of_every_script_and_lines_of_dots_arrive_unchanged(sink: Sink) -> None:
    text = "ǀhôa ǂkhoa, Ελλάδα, Привет, שלום\n.\n..two\n" + "long " * 400 + "\n"
    send(mail(text=text, subject="Ωραία: " + "é" * 120), fence=no_fence)
    got = sink.received[0].message
    assert next(got.iter_parts()).get_content() == text
    assert got["Subject"] == "Ωραία: " + "é" * 120
    assert max(map(len, sink.received[0].content.splitlines())) < 998


def test_attachments_follow_the_alternatives(sink: Sink) -> None:
    send(mail(attachments=(Attachment("Rechnung Ä.pdf", b"%PDF-1", "application/pdf"),)), fence=no_fence)
    got = sink.received[0].message
    assert got.get_content_type() == "multipart/mixed"
    [file] = got.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("Rechnung Ä.pdf", b"%PDF-1")


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "Hello\r\nBcc: all@evil.example"},
        {"subject": "Hello\nBcc: all@evil.example"},
        {"subject": "Hello\u2028Bcc: all@evil.example"},
        {"sender_name": "Lights\r\nBcc: all@evil.example"},
        {"reply_to": "a@b.example\r\nBcc: all@evil.example"},
        {"to": "a@b.example\r\nBcc: all@evil.example"},
        {"to": "a@b.example, all@evil.example"},
        {"to": "a@b.example> SIZE=1"},
        {"to": "nobody"},
        {"message_id": "<a@b>\r\nBcc: all@evil.example"},
        {"headers": {"X-Note": "x\r\nBcc: all@evil.example"}},
        {"headers": {"X-Note\r\nBcc": "all@evil.example"}},
        {"headers": {"To": "all@evil.example"}},
        {"headers": {"Content-Type": "text/html"}},
    ],
)
def test_nobody_can_break_out_of_a_header(sink: Sink, fields: dict[str, Any]) -> None:
    with pytest.raises(Permanent):
        send(mail(**fields), fence=no_fence)
    assert sink.received == []


def test_a_domain_outside_ascii_is_sent_in_its_ascii_form(sink: Sink) -> None:
    send(mail(to="post@bücher.example"), fence=no_fence)
    assert sink.received[0].recipients == ["post@xn--bcher-kva.example"]
    assert sink.received[0].message["To"] == "post@xn--bcher-kva.example"


def test_a_name_outside_ascii_needs_a_server_that_takes_it(sink: Sink) -> None:
    send(mail(to="jörg@kitchen.example"), fence=no_fence)
    assert sink.received[0].recipients == ["jörg@kitchen.example"]
    assert "SMTPUTF8" in sink.received[0].options
    assert "To: jörg@kitchen.example\r\n".encode() in sink.received[0].content


def test_such_a_name_is_final_where_the_server_does_not(app: Flask) -> None:
    with run_smtp_sink(utf8=False) as old, pytest.raises(Permanent, match="outside ASCII"):
        configure(app, SMTP_URL=old.url)
        send(mail(to="jörg@kitchen.example"), fence=no_fence)


def test_development_keeps_a_copy(sink: Sink) -> None:
    send(mail(), fence=no_fence)
    [copy] = dev_mailbox.list_messages(to="Ndapewa@Kitchen.example")
    assert (copy["channel"], copy["subject"]) == ("email", "Your code is 123 456")
    assert copy["headers"]["Message-ID"] == message_id("code:1")


def test_a_copy_that_cannot_be_kept_does_not_undo_the_delivery(sink: Sink, app: Flask, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("in the way")
    send(mail(), fence=no_fence)
    assert len(sink.received) == 1


def test_production_keeps_no_copy(sink: Sink, app: Flask, tmp_path: Path) -> None:
    configure(app, APP_ENV="production")
    send(mail(), fence=no_fence)
    assert len(sink.received) == 1
    assert not (tmp_path / "mail").exists()


def test_without_a_server_development_delivers_to_the_mailbox(app: Flask) -> None:
    configure(app, SMTP_URL=None)
    fenced: list[bool] = []
    send(mail(), fence=lambda: fenced.append(True))
    assert fenced == [True]
    assert len(dev_mailbox.list_messages()) == 1


def test_without_a_server_production_waits_for_one(app: Flask) -> None:
    configure(app, SMTP_URL=None, APP_ENV="production")
    with pytest.raises(Transient, match="SMTP_URL"):
        send(mail(), fence=no_fence)


def said_by(got: Received) -> str:
    """The name in From. The library's newer reader puts blanks between the parts of a long one."""
    raw = message_from_bytes(got.content, policy=policy.compat32)["From"]
    return str(make_header(decode_header(raw.rpartition("<")[0].strip())))


@pytest.mark.parametrize(
    "word",
    ["=?utf-8?q?=0d=0aBcc:_all=40evil.example?=", "=?utf-8?b?DQpCY2M6IHg=?=", "a =?us-ascii?q?=0a=0aBcc:_x?= b"],
)
def test_an_encoded_word_that_somebody_typed_is_text_and_no_header(sink: Sink, word: str) -> None:
    file = Attachment(f"{word}.txt", b"hello", "text/plain")
    send(mail(subject=word, sender_name=word, headers={"X-About": word}, attachments=(file,)), fence=no_fence)
    (got,) = sink.received
    assert b"\nBcc" not in got.content and got.message["Bcc"] is None
    assert got.message["Subject"] == got.message["X-About"] == word
    assert said_by(got) == f"{word} via Event Commerce"


def test_an_address_for_answers_that_cannot_be_carried_is_left_out(sink: Sink) -> None:
    send(mail(reply_to="öl@straße.example"), fence=no_fence)
    send(mail(reply_to="oil@straße.example"), fence=no_fence)
    send(mail(to="jörg@kitchen.example", reply_to="öl@straße.example"), fence=no_fence)
    told = [got.message["Reply-To"] for got in sink.received]
    assert told == [None, "oil@xn--strae-oqa.example", "öl@xn--strae-oqa.example"]


@pytest.mark.parametrize("words", [1, 3, 30])
def test_a_subject_of_any_length_and_script_is_read_as_it_was_written(sink: Sink, words: int) -> None:
    subject = " ".join(["ערב – טוב", "Windhoek Lights", "ǃgâi"] * words)
    send(mail(subject=subject, sender_name=subject[:200].strip()), fence=no_fence)
    (got,) = sink.received
    assert got.message["Subject"] == subject
    assert said_by(got) == f"{subject[:200].strip()} via Event Commerce"
    assert got.message["From"].addresses[0].addr_spec == "no-reply@events.example"
    assert max(map(len, got.content.split(b"\r\n"))) <= 78
