"""Emails of allocations: their parts, attachments and links, and hostile names."""

import email
import re
from datetime import date
from email import policy
from email.message import EmailMessage
from typing import Any

import pytest
from flask import Flask

from app.allocations import emails, qr_codes
from app.allocations.emails import build_invoice_email, build_payment_email
from app.allocations.ticket_pdf import draw_ticket_pdf
from app.clients.message import Message
from app.clients.mime import compose
from app.invoicing.invoice_pdf import draw_invoice_pdf
from tests.allocations.documents import HOSTILE, build_invoice, build_ticket


def parse_email(message: Message) -> EmailMessage:
    """Return the email as an email program reads it."""
    envelope = compose(message, mail_from="Event Commerce <no-reply@events.example>")
    parsed = email.message_from_bytes(envelope.content, policy=policy.SMTP)
    assert isinstance(parsed, EmailMessage)
    return parsed


def test_ticket_email_has_inline_code_and_attached_pdf(app: Flask) -> None:
    mail = parse_email(emails.build_ticket_email([build_ticket()], key="ticket:1"))
    assert [part.get_content_type() for part in mail.walk()] == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "application/pdf",
        "text/calendar",
    ]
    picture = next(part for part in mail.walk() if part.get_content_type() == "image/png")
    html = mail.get_body(("html",))
    assert html is not None and f"cid:{picture['Content-ID'][1:-1]}" in html.get_content()
    assert picture.get_content_disposition() == "inline" and picture.get_content() == qr_codes.render_png("HJ7K2Q9XRD")
    pdf, calendar = mail.iter_attachments()
    assert pdf.get_filename() == "windhoek-lights-2026-frieda-amupolo.pdf"
    assert pdf.get_content() == draw_ticket_pdf([build_ticket()])
    assert calendar.get_filename() == "windhoek-lights-2026.ics"
    assert calendar.get_payload(decode=True) == build_ticket().build_calendar_file()


def test_text_part_has_all_facts_of_the_ticket(app: Flask) -> None:
    text = emails.build_ticket_email([build_ticket()], key="ticket:1").text
    fields = ("code", "name", "when", "where", "kind", "host", "contact", "ticket_url")
    assert [field for field in fields if getattr(build_ticket(), field) not in text] == []
    assert "Fri 4 December 2026, 18:00 to 23:00 (Windhoek)" in text and build_ticket().visit.map_url in text


def test_email_of_large_party_shows_six_codes_and_pdf_has_all(app: Flask) -> None:
    party = [build_ticket(code=f"AAAAAAAA{number:02d}", party=9) for number in range(9)]
    message = emails.build_ticket_email(party, key="ticket:1")
    assert message.html.count("<img") == 6 and "The other 3 codes are in the PDF." in message.text
    assert len(re.findall(rb"/Type /Page\b", message.attachments[-2].content)) == 9


def test_will_call_email_has_only_the_calendar_file(app: Flask) -> None:
    message = emails.build_ticket_email([build_ticket(delivery="will_call")], key="ticket:1")
    assert message.subject == "Windhoek Lights 2026: you are on the list"
    assert [attachment.content_type for attachment in message.attachments] == ["text/calendar"]


def test_reminder_has_the_same_link(app: Flask) -> None:
    invitation, reminder = (
        emails.build_invite_email(build_ticket(), key=key, is_reminder=key == "2") for key in ("1", "2")
    )
    links = [re.findall(r"http\S+/claim/\S+", message.text) for message in (invitation, reminder)]
    assert links[0] == links[1] and len(links[0]) == 1
    assert reminder.subject == "Windhoek Lights 2026: your ticket is still waiting"


def test_emailed_invoice_has_the_bytes_of_the_download(app: Flask) -> None:
    message = build_invoice_email(build_invoice(), to="tuli@bank.example", key="invoice:1")
    assert message.attachments[0].content == draw_invoice_pdf(build_invoice())
    assert message.subject == "Windhoek Lights: invoice 2026-000001" and "N$\u00a030\u202f600.00" in message.text


PAYMENT: dict[str, Any] = {"amount_minor": 850000, "received_on": date(2026, 11, 28), "due_minor": 0}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_rendered_as_text(app: Flask, name: str) -> None:
    hostile_ticket = build_ticket(name=name, event=name, host=name, organiser=name[:200], where=name, kind=name[:120])
    hostile_invoice = build_invoice(seller=[name], buyer=[name], facts=[("Event", name)])
    messages = (
        emails.build_ticket_email([hostile_ticket], key="1"),
        emails.build_ticket_email([build_ticket(name=name, delivery="will_call")], key="2"),
        emails.build_invite_email(hostile_ticket, key="3"),
        build_invoice_email(hostile_invoice, to="tuli@bank.example", key="4"),
        build_payment_email(hostile_invoice, **PAYMENT, to="tuli@bank.example", key="5"),
        build_payment_email(hostile_invoice, **PAYMENT, to="tuli@bank.example", key="6", is_taken_back=True),
    )
    for message in messages:
        mail = parse_email(message)
        html = mail.get_body(("html",))
        assert html is not None
        markup = html.get_content()
        assert set(re.findall(r'<img src="([^"]*)', markup)) <= {"cid:HJ7K2Q9XRD"}
        assert "<b>&" not in markup and "<font" not in markup
        assert "\n" not in message.subject and len(message.subject) <= 200
