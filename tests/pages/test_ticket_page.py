"""The page of a ticket, without scripts: its files, passing it on, giving it back."""

from urllib.parse import unquote

import pytest
from flask import Flask

from app.events.calendar_file import CALENDAR_TYPE
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.allocations import Block, create_block, create_sunday_block
from tests.factories.ticket_links import MARIA, claim_as_guest
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf

SUNDAY = "Valid Sun 6 June 2027, 10:00 to 23:00 (Windhoek)"


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client)


def test_page_has_the_end_a_map_and_a_calendar_file(block: Block, visitor: Visitor) -> None:
    guest = claim_as_guest(block, name="Zoë Müller")
    page = visitor.open(guest.page)
    assert guest.code in page.text and " to " in page.text and "https://www.openstreetmap.org/search" in page.text
    calendar = visitor.open(f"{guest.page}/event.ics")
    assert calendar.content_type == f"{CALENDAR_TYPE}; charset=utf-8" and b"BEGIN:VEVENT" in calendar.data
    assert guest.code.encode() not in calendar.data and guest.token.encode() not in calendar.data
    header = visitor.open(f"{guest.page}/ticket.pdf").headers["Content-Disposition"]
    assert "-zoe-muller.pdf" in header and "-zoë-müller.pdf" in unquote(header)


def test_day_ticket_says_when_it_is_admitted(client: Client, visitor: Visitor) -> None:
    guest = claim_as_guest(create_sunday_block(client))
    run_jobs()
    mail = list_mails_to(guest.email)[-1]
    for text in (visitor.open(guest.page).text, mail["text"], mail["html"]):
        assert SUNDAY in text and "4 June" not in text
        assert "The ticket admits once." in text and "once a day" not in text
    assert SUNDAY in visitor.open(f"{guest.page}/change").text
    calendar = visitor.open(f"{guest.page}/event.ics").text
    assert "DTSTART:20270606T080000Z" in calendar and "DTEND:20270606T210000Z" in calendar
    ticket = data(guest.read())
    assert ticket["validFrom"] == "2027-06-06T08:00:00.000Z" and ticket["validUntil"] == "2027-06-06T21:00:00.000Z"
    visitor.open(f"{guest.page}/change")
    visitor.send(**MARIA)
    run_jobs()
    for address in (guest.email, MARIA["email"]):
        assert SUNDAY in list_mails_to(address)[-1]["text"]


@NEEDS_PDFTOTEXT
def test_pdf_of_a_day_ticket_says_when_it_is_admitted(client: Client, visitor: Visitor) -> None:
    guest = claim_as_guest(create_sunday_block(client))
    said = read_pdf(visitor.open(f"{guest.page}/ticket.pdf").data)
    assert SUNDAY in said and "4 June" not in said and "The ticket admits once." in said


def test_ticket_is_passed_on_on_its_page(app: Flask, block: Block, visitor: Visitor) -> None:
    guest = claim_as_guest(block)
    page = visitor.open(f"{guest.page}/change")
    page = visitor.send(name="", email="nobody")
    assert page.status_code == 422 and "There are problems" in page.text
    page = visitor.send(**MARIA)
    assert page.status_code == 410 and "The ticket now belongs to Maria Shilongo" in page.text
    assert "This ticket no longer works" in page.text and "<svg" not in page.text
    assert len(list_mails_to(MARIA["email"])) == 1
    for path in (guest.page, f"{guest.page}/ticket.pdf", f"{guest.page}/event.ics", f"{guest.page}/change"):
        assert Visitor(app.test_client()).open(path).status_code == 410


def test_ticket_is_given_back_after_a_question(block: Block, visitor: Visitor) -> None:
    guest = claim_as_guest(block)
    page = visitor.open(f"{guest.page}/change")
    assert "<details>" in page.text and "This cannot be undone" in page.text
    page = visitor.send(form=1)
    assert page.status_code == 410 and "You gave the ticket back." in page.text
    assert block.now()["revoked"] == 1


def test_browser_that_claimed_does_not_see_the_code_of_the_next_guest(block: Block, visitor: Visitor) -> None:
    path = f"/claim/{block.codes(1)[0]}"
    visitor.open(path)
    visitor.send(name="Anna", email="anna@example.com", delivery="e_ticket")
    ticket = visitor.open(path).headers["Location"]
    visitor.open(f"{ticket}/change")
    visitor.send(**MARIA)
    (slot,) = [slot for slot in block.now()["slots"] if slot["status"] == "claimed"]
    for page in (visitor.open(path), visitor.open(ticket)):
        assert page.status_code == 410 and slot["code"] not in page.text


def test_page_offers_only_what_the_block_allows(client: Client, visitor: Visitor) -> None:
    block = create_block(client, guestsMayPassOn=False, guestsMayGiveBack=False)
    guest = claim_as_guest(block)
    assert f"{guest.page}/change" not in visitor.open(guest.page).text
    assert "cannot be passed on or given back" in visitor.open(f"{guest.page}/change").text and visitor.forms == []
    data(block.owner.patch(block.path, {"guestsMayGiveBack": True}))
    assert "Give this ticket back" in visitor.open(guest.page).text
    visitor.open(f"{guest.page}/change")
    data(block.admit(guest.slot_id))
    page = visitor.send()
    assert page.status_code == 409 and "already inside" in page.text


def test_unknown_links_and_forms_without_a_token_are_refused(block: Block, visitor: Visitor) -> None:
    guest = claim_as_guest(block)
    assert visitor.open(f"/ticket/{'A' * 44}").status_code == 404
    for path in ("change", "give-back"):
        assert visitor.flask.post(f"{guest.page}/{path}", data=MARIA).status_code == 400
