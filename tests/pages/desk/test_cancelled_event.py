"""A cancelled event: what is affected before, what is left to do after, and what guests and merchants see."""

import html
import re
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.core.formatting import format_money
from tests.allocations.documents import extract_text
from tests.allocations.test_invoice_payments import credit
from tests.counting import count_statements
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.allocations import Block, create_another_block, create_block
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    create_offered_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.campaigns import fetch_sql_rows
from tests.factories.events import create_published_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.factories.ticket_links import Guest, claim_as_guest
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.desk.test_guests import HOLDER
from tests.pages.pages import Visitor
from tests.races import run_concurrently

TASKS = "/api/organisations/me/tasks"
LEFT = "Left to do after the cancellation"
MESSAGE = {
    "name": "Cancelled",
    "templateId": "blank",
    "title": "{eventName} is cancelled",
    "body": "Hello",
    "channels": ["email"],
    "sendNow": True,
    "respectPreferences": True,
}


def cancel(organiser: Client, event_id: str) -> None:
    data(organiser.patch(f"/api/events/{event_id}", {"visibility": "cancelled"}))


def write_to(organiser: Client, event_id: str, *roles: str) -> None:
    body = {**MESSAGE, "audienceType": "filtered_people", "audienceFilter": {"roles": roles}}
    data(organiser.post(f"/api/events/{event_id}/notifications/broadcast", body), 202)
    execute_sql("UPDATE campaign SET started_at = clock_timestamp()")


def list_kinds(organiser: Client) -> list[str]:
    return [f"{task['kind']} {task['count']}" for task in data(organiser.get(TASKS))["tasks"]]


class Festival:
    """An event with a guest, an invoice of another block, and a stall whose fee is paid."""

    def __init__(self, client: Client, organiser: Client) -> None:
        self.block: Block = create_block(client, owner=organiser)
        self.id: str = self.block.event["id"]
        self.guest: Guest = claim_as_guest(self.block)
        self.application: dict[str, Any] = create_approved_application(
            client, organiser, eventId=self.id, documentsRequired=[]
        )
        pay_stall_fee(client, find_mailed_token("pay"))
        self.sponsors: Block = create_another_block(self.block)
        data(organiser.post(f"{self.sponsors.path}/invoice/email", {"to": "sponsor@bank.example"}), 202)


@pytest.fixture
def festival(client: Client, organiser: Client) -> Festival:
    return Festival(client, organiser)


def test_question_lists_what_is_affected(festival: Festival, desk: Visitor) -> None:
    answer, statements = count_statements(lambda: desk.flask.get(f"{EVENTS}/{festival.id}/state/cancelled"))
    assert re.findall("<li>(.*?)</li>", answer.text.rpartition("Cancel this event?")[2].partition("<form")[0]) == [
        "1 guest of blocks has a ticket",
        "1 stall is approved",
        "1 stall fee is paid: N$\u00a02\u202f500.00",
        "1 invoice is not paid",
    ]
    assert "Nobody gets a mail by itself" in answer.text and len(statements) <= 6, statements


def test_question_has_the_sum_of_paid_invoices(festival: Festival, desk: Visitor, organiser: Client) -> None:
    total = data(organiser.get(f"{festival.sponsors.path}/invoice"))["totalMinor"]
    part = {"amountMinor": 300010, "reference": "EFT", "receivedOn": TRANSFER_DAY, "part": True}
    data(organiser.post(f"{festival.sponsors.path}/invoice/received", part))
    page = desk.open(f"{EVENTS}/{festival.id}/state/cancelled").text
    assert f"<li>1 invoice is not paid, or only in part: {format_money(300010)}</li>" in page
    payment = {"amountMinor": total - 300010, "reference": "EFT 2", "receivedOn": TRANSFER_DAY}
    data(organiser.post(f"{festival.sponsors.path}/invoice/received", payment))
    page = desk.open(f"{EVENTS}/{festival.id}/state/cancelled").text
    assert f"<li>1 invoice is paid: {format_money(total)}</li>" in page and "not paid" not in page


def test_holders_of_blocks_are_told(
    app: Flask, client: Client, owner: Account, festival: Festival, desk: Visitor, organiser: Client
) -> None:
    free = create_another_block(festival.block, holder={"email": "TULI@bank.example"}, unitPriceMinor=0)
    other = create_another_block(festival.block, holder={"email": "lukas@coffee.example"}, unitPriceMinor=0)
    data(festival.sponsors.change(holder=HOLDER))
    assert not any("holders" in kind for kind in list_kinds(organiser))
    cancel(organiser, festival.id)
    assert "cancelled_holders 2" in list_kinds(organiser)
    path = f"{EVENTS}/{festival.id}"
    text = "2 holders of blocks have places left. Write to them, and credit their invoices or give the places back"
    for page in (desk.open(path).text, desk.open("/desk").text):
        assert text in page and f'href="{path}/guests?status=open"' in page
    for role, is_named in (("viewer", False), ("finance", False), ("manager", True)):
        assert (text in open_as(app, client, owner, role).open(path).text) == is_named, role
    data(festival.sponsors.post("invoice/credit"))
    data(other.post("release-unused"))
    assert "cancelled_holders 1" in list_kinds(organiser), "one of two blocks of a holder is left"
    data(free.post("release-unused"))
    assert not any("holders" in kind for kind in list_kinds(organiser))


def test_question_names_messages_that_still_go_out(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    body = {**MESSAGE, "audienceType": "filtered_people", "audienceFilter": {"roles": ["guests"]}}
    scheduled = {**body, "sendNow": False, "scheduledAt": "2027-05-01T18:00:00Z"}
    assert organiser.post(f"/api/events/{event['id']}/notifications/broadcast", scheduled).status_code in (201, 202)
    page = desk.open(f"{EVENTS}/{event['id']}/state/cancelled").text
    assert "1 scheduled message still goes out, unless you cancel it under Messages" in page


def test_question_of_an_event_without_anything(desk: Visitor, organiser: Client) -> None:
    event = create_published_event(organiser)
    page = desk.open(f"{EVENTS}/{event['id']}/state/cancelled").text
    assert "There are no tickets, stalls, invoices or messages." in page
    assert "There are no tickets" not in desk.open(f"{EVENTS}/{event['id']}/state/archived").text


def test_what_is_left_vanishes_when_it_is_done(festival: Festival, desk: Visitor, organiser: Client) -> None:
    path = f"{EVENTS}/{festival.id}"
    desk.open(f"{path}/state/cancelled")
    page = desk.send(form=1).text
    assert "Nobody gets a mail about it by itself." in page and LEFT in page
    for url in (
        "messages/new?roles=ticket_holders&amp;roles=guests&amp;template=event-cancelled",
        "messages/new?roles=stallholders&amp;roles=applicants&amp;template=stalls-cancelled",
        "stalls?feeState=paid",
        "money#documents",
    ):
        assert f'href="{path}/{url}"' in page and f'href="{path}/{url}"' in desk.open("/desk").text, url
    assert list_kinds(organiser) == [
        "cancelled_guests 1",
        "cancelled_stalls 1",
        "cancelled_fees 1",
        "cancelled_invoices 1",
    ]
    write_to(organiser, festival.id, "guests")
    assert list_kinds(organiser)[0] == "cancelled_stalls 1"
    write_to(organiser, festival.id, "applicants")
    data(organiser.post(f"{LIST}/{festival.application['id']}/fee/refund", {"reason": "Cancelled"}))
    assert list_kinds(organiser) == ["cancelled_invoices 1"]
    credit(festival.sponsors, festival.sponsors.now()["quantity"])
    assert list_kinds(organiser) == []
    assert LEFT not in desk.open(path).text


def test_a_message_that_was_scheduled_before_tells_nobody(festival: Festival, desk: Visitor, organiser: Client) -> None:
    write_to(organiser, festival.id, "guests")
    desk.open(f"{EVENTS}/{festival.id}/state/cancelled")
    desk.send(form=1)
    execute_sql("UPDATE campaign SET started_at = now() + interval '1 hour'")
    assert list_kinds(organiser)[0] == "cancelled_guests 1"
    write_to(organiser, festival.id, "guests")
    assert list_kinds(organiser)[0] == "cancelled_stalls 1"


def test_message_form_has_the_audience(festival: Festival, desk: Visitor) -> None:
    path = f"{EVENTS}/{festival.id}/messages/new"
    page = desk.open(f"{path}?roles=stallholders&roles=applicants&roles=nobody").text
    assert re.findall(r'name="roles" value="(\w+)"[^>]*checked', page) == ["stallholders", "applicants"]


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("ticket holders and guests", "Your tickets are not valid any more."),
        ("the stalls and applicants", "a stall fee that you paid"),
    ],
)
def test_links_write_that_the_event_is_cancelled_and_whom_to_ask(
    owner: Account, festival: Festival, desk: Visitor, organiser: Client, link: str, words: str
) -> None:
    cancel(organiser, festival.id)
    page = desk.open(f"{EVENTS}/{festival.id}").text
    page = desk.open(html.unescape(re.findall(rf'href="([^"]*)">Write to {link}<', page)[0])).text
    body = html.unescape(re.findall(r'<textarea id="body"[^>]*>(.*?)</textarea>', page, re.DOTALL)[0])
    page = desk.send(form=1, channels=["email"], roles=["guests"], body=body)
    assert "The draft is saved" in page.text and "cannot be sent yet" not in page.text
    ((campaign_id,),) = fetch_sql_rows("SELECT id FROM campaign")
    mail = desk.open(f"{EVENTS}/{festival.id}/messages/{campaign_id}/mail/A").text
    assert "is cancelled" in mail and words in mail and f"write to {owner.email}" in mail


def test_applicants_that_wait_are_named_until_they_are_declined_or_written_to(
    client: Client, organiser: Client, desk: Visitor
) -> None:
    event_id = create_published_event(organiser)["id"]
    first = create_application(client, eventId=event_id)
    create_application(client, eventId=event_id, email="selma@example.com")
    assert (
        "2 applicants wait for a decision. You can still decline"
        in desk.open(f"{EVENTS}/{event_id}/state/cancelled").text
    )
    cancel(organiser, event_id)
    assert list_kinds(organiser) == ["cancelled_stalls 1", "cancelled_applications 2"]
    decide_application(organiser, first, "declined")
    page = desk.open(f"{EVENTS}/{event_id}").text
    assert "1 applicant waits for a decision" in page and f'href="{EVENTS}/{event_id}/stalls"' in page
    write_to(organiser, event_id, "applicants")
    assert list_kinds(organiser) == []
    assert "is cancelled" in list_mails_to("selma@example.com")[0]["subject"]


@pytest.mark.parametrize(
    ("role", "is_named"), [("finance", True), ("manager", True), ("viewer", False), ("door", False)]
)
def test_sold_tickets_are_named_until_none_is_sold(
    app: Flask, client: Client, owner: Account, organiser: Client, role: str, is_named: bool
) -> None:
    types = [{"name": name, "priceMinor": 9900, "quantity": 50} for name in ("Day", "Weekend", "Camping")]
    event_id = create_published_event(organiser, ticketTypes=types)["id"]
    execute_sql("UPDATE ticket_type SET sold = 5 + position WHERE event_id = :id AND position < 2", id=event_id)
    assert list_kinds(organiser) == []
    cancel(organiser, event_id)
    assert list_kinds(organiser) == ["cancelled_guests 1", "cancelled_sales 11"]
    text = "11 tickets were sold in your shop. Pay them back there, and import the sales again"
    for path in ("/desk", f"{EVENTS}/{event_id}"):
        assert (text in open_as(app, client, owner, role).open(path).text) == is_named
    execute_sql("UPDATE ticket_type SET sold = 0 WHERE event_id = :id", id=event_id)
    assert list_kinds(organiser) == []


@pytest.mark.parametrize(
    ("role", "kinds"),
    [("viewer", 0), ("finance", 2), ("messages", 2), ("door", 0), ("stock", 0), ("manager", 4)],
)
def test_each_role_sees_its_own_tasks(
    app: Flask, client: Client, owner: Account, organiser: Client, festival: Festival, role: str, kinds: int
) -> None:
    cancel(organiser, festival.id)
    visitor = open_as(app, client, owner, role)
    for path in ("/desk", f"{EVENTS}/{festival.id}"):
        page = visitor.open(path).text
        texts = (
            "written to ticket holders and guests",
            "written to the stalls and applicants",
            "not sent back",
            "not credited",
        )
        assert sum(text in page for text in texts) == kinds, path


def test_others_see_no_tasks_and_old_ones_leave_the_home(festival: Festival, desk: Visitor, organiser: Client) -> None:
    cancel(organiser, festival.id)
    assert data(create_signed_in_client(organiser, create_account("organiser")).get(TASKS))["tasks"] == []
    execute_sql(
        "UPDATE event SET starts_at = now() - interval '20 days', ends_at = now() - interval '15 days' WHERE id = :id",
        id=festival.id,
    )
    assert list_kinds(organiser) == []
    assert LEFT in desk.open(f"{EVENTS}/{festival.id}").text


def test_ticket_says_that_the_event_is_cancelled(festival: Festival, organiser: Client, visitor: Visitor) -> None:
    assert festival.guest.code in visitor.open(festival.guest.page).text
    assert data(festival.guest.read())["eventCancelled"] is False
    cancel(organiser, festival.id)
    for path in (festival.guest.page, f"{festival.guest.page}/ticket.pdf"):
        page = visitor.flask.get(path, follow_redirects=True).text
        assert "The event is cancelled" in page
        assert not re.search(rf"<svg|Download the PDF|Your ticket<|{festival.guest.code}", page), path
    assert data(festival.guest.read())["eventCancelled"] is True


def test_links_of_an_application_say_that_the_event_is_cancelled(
    client: Client, organiser: Client, visitor: Visitor
) -> None:
    event_id = create_published_event(organiser)["id"]
    create_approved_application(client, organiser, eventId=event_id, documentsRequired=["identity"])
    pages = [f"/{page}/{find_mailed_token(page)}" for page in ("documents", "pay")]
    paid = create_approved_application(
        client, organiser, eventId=event_id, email="selma@example.com", documentsRequired=[]
    )
    pay_page = f"/pay/{find_mailed_token('pay', 'selma@example.com')}"
    pay_stall_fee(client, pay_page.rpartition("/")[2])
    pages.append(f"/activate/{find_mailed_token('activate', 'selma@example.com')}")
    create_offered_application(client, organiser, email="offer@example.com")
    pages.append(f"/place-offer/{find_mailed_token('place-offer', 'offer@example.com')}")
    for page in pages:
        assert "The event is cancelled" not in visitor.open(page).text
    execute_sql("UPDATE event SET visibility = 'cancelled'")
    for page in pages:
        text = visitor.open(page).text
        assert "<h1>The event is cancelled</h1>" in text, page
        assert not re.search(r"Activate your account|Pay the|Upload|Accept the place|Send me", text), page
    assert paid["status"] == "awaiting_payment" and "Your stall fee is paid" in visitor.open(pay_page).text
    token = pages[1].rpartition("/")[2]
    assert data(client.get(f"{LIST}/pay/{token}"))["eventCancelled"] is True
    execute_sql("UPDATE application_link SET expires_at = now()")
    assert "The event is cancelled" in visitor.open(pages[0]).text and "new link" not in visitor.open(pages[0]).text


def test_pages_of_a_cancelled_event_say_so_and_nothing_about_the_public(
    festival: Festival, desk: Visitor, organiser: Client
) -> None:
    path = f"{EVENTS}/{festival.id}"
    assert "Still free" in desk.open(path).text
    cancel(organiser, festival.id)
    assert "Still free" not in desk.open(path).text
    money = desk.open(f"{path}/money").text
    assert "This event is cancelled. These figures change" in money and "not over yet" not in money
    page = desk.open(f"{path}/guests/{festival.block.id}/release").text
    assert "Unused places: " in page and "ublic" not in page.rpartition("<h1")[2].partition("</form>")[0]
    assert re.search(r"Given back: \d+ places\.\s*<", desk.send(form=1).text)


def test_invoice_of_a_cancelled_event_is_credited_from_its_page(
    festival: Festival, desk: Visitor, organiser: Client
) -> None:
    block = festival.sponsors
    data(block.change(holder=HOLDER))
    guest = claim_as_guest(block, email="maria@example.com")
    total = data(organiser.get(f"{block.path}/invoice"))["totalMinor"]
    payment = {"amountMinor": 100, "reference": "EFT", "receivedOn": TRANSFER_DAY, "part": True}
    data(organiser.post(f"{block.path}/invoice/received", payment))
    path = f"{EVENTS}/{festival.id}/guests/{block.id}/invoice"
    assert "Credit this invoice" not in desk.open(path).text
    assert desk.open(f"{path}/credit").location == path, "nothing to ask"
    desk.open(path)
    answer = desk.flask.post(f"{path}/credit", data={"csrf_token": desk.forms[0].fields["csrf_token"]})
    assert answer.status_code == 409 and "The event takes place." in answer.text
    cancel(organiser, festival.id)
    assert f'href="{path}/credit"' in desk.open(path).text
    page = desk.open(f"{path}/credit").text
    assert f"A credit note over {format_money(total)} is issued." in page
    assert f"You then owe back {format_money(100)} that was paid." in page
    page = desk.send(form=1).text
    assert desk.flask.get(f"{path}/credit").location == path
    assert "The invoice is credited." in page and "Credit notes" in page and "Credit this invoice" not in page
    assert f"You owe back</dt><dd><strong>{format_money(100)}" in page
    assert "cancelled_invoices 1" not in list_kinds(organiser)
    statement = "SELECT status FROM allocation_slot WHERE id = :id"
    assert fetch_scalar(statement, id=guest.slot_id) == "claimed", "the places stay"
    (mail,) = [mail for mail in list_mails_to(HOLDER["email"]) if "CN-" in mail["subject"]]
    assert "The event is cancelled, so " in mail["text"] and "given back" not in mail["text"] + mail["html"]
    note = data(organiser.get(f"{block.path}/invoice"))["creditNotes"][0]["number"]
    printed = " ".join(extract_text(organiser.get(f"{block.path}/invoice.pdf?number={note}").data).split())
    assert "The event is cancelled. This corrects invoice" in printed and "none of 10 places is charged" in printed
    data(organiser.post(f"{block.path}/release-unused", {}))
    run_jobs()
    invoice = data(organiser.get(f"{block.path}/invoice"))
    assert (len(invoice["creditNotes"]), invoice["dueMinor"]) == (1, -100), "nothing is credited twice"


def test_places_given_back_after_a_cancellation_are_credited_for_it(
    desk: Visitor, organiser: Client, festival: Festival
) -> None:
    block = festival.sponsors
    data(block.change(holder=HOLDER))
    claim_as_guest(block, email="maria@example.com")
    data(organiser.get(f"{block.path}/invoice"))
    cancel(organiser, festival.id)
    data(organiser.post(f"{block.path}/release-unused", {}))
    run_jobs()
    (mail,) = [mail for mail in list_mails_to(HOLDER["email"]) if "CN-" in mail["subject"]]
    assert "The event is cancelled, so " in mail["text"]
    note = data(organiser.get(f"{block.path}/invoice"))["creditNotes"][0]["number"]
    printed = " ".join(extract_text(organiser.get(f"{block.path}/invoice.pdf?number={note}").data).split())
    assert "The event is cancelled. This corrects invoice" in printed and "1 of 10 places left." in printed


def test_finance_credits_the_invoice_of_a_cancelled_event(
    app: Flask, client: Client, owner: Account, organiser: Client, festival: Festival
) -> None:
    cancel(organiser, festival.id)
    path = f"{EVENTS}/{festival.id}/guests/{festival.sponsors.id}/invoice/credit"
    for role, status in (("viewer", 403), ("door", 403), ("manager", 200), ("finance", 200)):
        visitor = open_as(app, client, owner, role)
        assert visitor.open(path).status_code == status, role
    assert "The invoice is credited." in visitor.send(form=1).text


def test_an_invoice_that_many_credit_at_once_is_credited_once(
    app: Flask, organiser: Client, festival: Festival
) -> None:
    cancel(organiser, festival.id)
    path = f"{festival.sponsors.path}/invoice/credit"
    answers = run_concurrently(16, lambda _: Client(app.test_client(), organiser.headers).post(path).status_code)
    assert set(answers) == {200}
    assert fetch_scalar("SELECT count(*) FROM invoice WHERE kind = 'credit_note'") == 1
