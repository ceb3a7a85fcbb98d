"""The stalls of an event at the desk: table, one application, decisions, fees, several at once."""

import csv
import re
from datetime import date
from io import StringIO
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.accounts.models import Account
from app.applications.fee_refunds import refuse_refund
from app.applications.models import Application
from app.blueprints.pages.desk import stalls
from app.blueprints.pages.desk.event_form import format_today
from app.core.db import fetch_row
from app.core.formatting import format_calendar_day, format_money
from app.core.transaction import transaction
from tests.counting import count_statements
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
    upload_documents,
)
from tests.factories.events import create_event, create_published_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.desk.test_events import EVENTS, open_as
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import find_title
from tests.pages.test_team_pages import create_owner

STALL_TYPES = [{"name": "Food", "feeMinor": 250000, "quantity": 1}, {"name": "Crafts", "feeMinor": 80000}]
READERS, DECIDERS, SETTLERS = (
    ("owner", "manager", "finance", "viewer"),
    ("owner", "manager"),
    ("owner", "manager", "finance"),
)
ROLES = ("owner", "manager", "finance", "door", "stock", "messages", "viewer")


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_published_event(organiser, name="Windhoek Lights", stallTypes=STALL_TYPES)


def build_path(event: dict[str, Any], application: dict[str, Any] | None = None) -> str:
    path = f"{EVENTS}/{event['id']}/stalls"
    return f"{path}/{application['id']}" if application else path


def apply(client: Client, event: dict[str, Any], name: str = "Kapana Corner", **fields: Any) -> dict[str, Any]:
    email = f"{name.split()[0].lower()}@stalls.example"
    return create_application(client, eventId=event["id"], **{"businessName": name, "email": email, **fields})


def read(organiser: Client, application: dict[str, Any]) -> Any:
    return data(organiser.get(f"{LIST}/{application['id']}"))


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], role: str
) -> None:
    waiting, unpaid = apply(client, event), apply(client, event, "Ruusa Bakes", stallType="Crafts", amountMinor=80000)
    decide_application(organiser, unpaid, documentsRequired=[])
    visitor = open_as(app, client, owner, role)
    answer = visitor.open(build_path(event))
    assert answer.status_code == (200 if role in READERS else 403)
    if role in READERS:
        assert ("Decide the chosen ones" in answer.text) == (role in DECIDERS)
        page = visitor.open(build_path(event, waiting)).text
        assert ("Approve</a>" in page) == (role in DECIDERS)
        page = visitor.open(build_path(event, unpaid)).text
        assert ("Waive the fee" in page) == (role in SETTLERS)
    acts = {
        f"{build_path(event, waiting)}/decide/decline": DECIDERS,
        f"{build_path(event, unpaid)}/links": DECIDERS,
        f"{build_path(event, unpaid)}/fee/waive": SETTLERS,
    }
    for path, roles in acts.items():
        assert visitor.open(path).status_code == (200 if role in roles else 403), path
    visitor.open(EVENTS)
    token = visitor.forms[0].fields["csrf_token"]
    for path, roles in {**acts, f"{build_path(event)}/decide": DECIDERS}.items():
        if role not in roles:
            body = {"csrf_token": token, "version": "1", "reason": "x", "decision": "declined", "id": waiting["id"]}
            assert visitor.flask.post(path, data=body).status_code == 403, path
    assert read(organiser, waiting)["status"] == "submitted"


def test_applications_of_others_are_not_there(
    app: Flask, client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    other_event = create_published_event(organiser, name="Desert Days")
    assert desk.open(build_path(other_event, application)).status_code == 404
    assert desk.open(f"{build_path(other_event, application)}/decide/decline").status_code == 404
    stranger = sign_in_browser(app, create_owner("Other"))
    for path in ("", "/decide/approve", "/fee/waive", "/links"):
        assert stranger.open(f"{build_path(event, application)}{path}").status_code == 404
    assert stranger.open(build_path(event)).status_code == 404


def test_the_table_shows_what_waits_first_and_is_filtered(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    page = desk.open(build_path(event)).text
    assert "Applications appear here" in page and page.count(f'href="/apply/{event["id"]}"') == 1
    approved = apply(client, event, "Ruusa Bakes", stallType="Crafts", amountMinor=80000)
    decide_application(organiser, approved, documentsRequired=[])
    apply(client, event, "Kapana Corner")
    page = desk.open(build_path(event)).text
    assert page.index("Kapana Corner") < page.index("Ruusa Bakes") and "2 applications" in page
    assert page.count(f'href="/apply/{event["id"]}"') == 1
    for query, name in (
        ("status=submitted", "Kapana Corner"),
        ("stallType=Crafts", "Ruusa Bakes"),
        ("feeState=open", "Ruusa Bakes"),
        ("q=kapana", "Kapana Corner"),
    ):
        page = desk.open(f"{build_path(event)}?{query}").text
        assert "1 application " in page and name in page, query
    choice = page.split('<select id="stallType"')[1].split("</select>")[0]
    assert re.findall(r'<option value="(\w*)"', choice) == ["", "Food", "Crafts"]
    choice = desk.open(f"{build_path(event)}?stallType=Crafts").text.split('<select id="stallType"')[1]
    assert '<option value="Crafts" selected>' in choice
    assert "Nothing matches" in desk.open(f"{build_path(event)}?feeState=overdue").text
    answer = desk.open(f"{build_path(event)}?format=csv")
    assert "Ruusa Bakes" in answer.text and "800.00" in answer.text
    assert "ruusa@stalls.example" not in desk.open(build_path(event)).text
    draft = create_event(organiser)
    assert "/apply/" not in desk.open(build_path(draft)).text


def test_the_file_has_the_contacts_and_times_of_the_event(
    app: Flask, client: Client, owner: Account, event: dict[str, Any]
) -> None:
    contact = {"contactName": "=Ruusa", "phone": "+264811234567", "products": "Vetkoek"}
    applied = apply(client, event, "Ruusa Bakes", **contact)
    moment = "2026-11-28T22:20:00Z"
    execute_sql("UPDATE merchant_application SET created_at = :moment WHERE id = :id", moment=moment, id=applied["id"])
    for role, zone, time in (("owner", "Africa/Windhoek", "2026-11-29 00:20"), ("viewer", "UTC", "2026-11-28 22:20")):
        execute_sql("UPDATE event SET timezone = :zone WHERE id = :id", zone=zone, id=event["id"])
        file = open_as(app, client, owner, role).open(f"{build_path(event)}?format=csv").data.decode("utf-8-sig")
        (row,) = csv.DictReader(StringIO(file))
        assert row["Applied"] == time
        assert (row["Contact"], row["E-mail"]) == ("'=Ruusa", "ruusa@stalls.example")
        assert (row["Phone"].lstrip("'"), row["Sells"]) == ("+264811234567", "Vetkoek")
    assert open_as(app, client, owner, "door").open(f"{build_path(event)}?format=csv").status_code == 403


def test_the_table_takes_few_statements(client: Client, event: dict[str, Any], desk: Visitor) -> None:
    for number in range(4):
        apply(client, event, f"Stall{number} Bakes", stallType="Crafts", amountMinor=80000)
    _, statements = count_statements(lambda: desk.flask.get(build_path(event)))
    assert len(statements) == 7, statements


def test_an_application_is_approved_revised_and_declined(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    path = build_path(event, application)
    page = desk.open(path)
    assert find_title(page.text) == "Kapana Corner" and "You have to decide." in page.text
    desk.open(f"{path}/decide/approve")
    page = desk.send(form=1, fee="2000", riskLevel="low")
    assert page.status_code == 422 and "Enter why you set another fee" in page.text and 'value="2000"' in page.text
    terms: dict[str, Any] = {"riskLevel": "low", "documentsRequired": ["identity", "food_safety"]}
    page = desk.send(form=1, fee="2000", reason="A school", reviewerNotes="Good last year", **terms)
    assert page.status_code == 200 and "The application is approved." in page.text
    assert "Good last year" in page.text and "Fee to pay" not in page.text and "Documents missing" in page.text
    record = read(organiser, application)
    assert (record["amountMinor"], record["riskLevel"], len(record["documents"])) == (200000, "low", 2)
    desk.open(f"{path}/decide/fee")
    assert "The fee is changed." in desk.send(form=1, fee="1500.50", reason="Smaller stall").text
    assert read(organiser, application)["amountMinor"] == 150050
    desk.open(f"{path}/decide/revoke")
    assert desk.send(form=1).status_code == 422
    page = desk.send(form=1, reason="Wrong stall", declineReason="We have too many grills.")
    assert "The application is declined." in page.text and "We have too many grills." in page.text
    assert desk.open(f"{path}/decide/fee").status_code == 404
    desk.open(f"{path}/decide/reopen")
    page = desk.send(form=1, reason="A mistake")
    assert "waits for a decision again" in page.text and read(organiser, application)["status"] == "submitted"


def test_a_decision_by_somebody_else_is_not_undone(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    desk.open(f"{build_path(event, application)}/decide/decline")
    decide_application(organiser, application)
    page = desk.send(form=1, declineReason="No")
    assert page.status_code == 412 and "Open the page again" in page.text
    assert read(organiser, application)["decision"] == "approved"


def test_a_full_stall_type_needs_a_tick_and_a_reason(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    first, second = apply(client, event), apply(client, event, "Second Grill")
    path = build_path(event, second)
    page = desk.open(f"{path}/decide/approve").text
    assert "although all places are taken" not in page and "Food: 0 of 1 places are taken." in page
    decide_application(organiser, first)
    page = desk.send(form=1)
    assert page.status_code == 409 and 'href="#overrideQuota">All places of this stall type are taken.' in page.text
    page = desk.open(f"{path}/decide/approve").text
    assert "although all places are taken" in page and "Food: 1 of 1 places are taken." in page
    assert desk.send(form=1, overrideQuota="true").status_code == 422
    assert "The application is approved." in desk.send(form=1, overrideQuota="true", reason="There is room").text


def test_the_waitlist_has_an_order(client: Client, organiser: Client, event: dict[str, Any], desk: Visitor) -> None:
    application = apply(client, event, "Ruusa Bakes", stallType="Crafts", amountMinor=80000)
    assert "places are taken" not in desk.open(f"{build_path(event, application)}/decide/approve").text
    desk.open(f"{build_path(event, application)}/decide/waitlist")
    page = desk.send(form=1)
    assert page.status_code == 409 and "This stall type has no waitlist." in page.text
    decide_application(organiser, apply(client, event))
    second = apply(client, event, "Second Grill")
    desk.open(f"{build_path(event, second)}/decide/waitlist")
    assert "on the waitlist" in desk.send(form=1, waitlistRank="3").text
    desk.open(f"{build_path(event, second)}/decide/waitlist")
    assert desk.forms[1].fields["waitlistRank"] == "3"
    desk.send(form=1, waitlistRank="1")
    assert read(organiser, second)["waitlistRank"] == 1


@pytest.mark.parametrize(
    ("now", "zone", "day"),
    [
        ("2026-12-04T22:30:00Z", "Africa/Windhoek", "2026-12-05"),
        ("2026-12-04T22:30:00Z", "America/New_York", "2026-12-04"),
        ("2026-12-04T20:00:00Z", "Asia/Tokyo", "2026-12-04"),
    ],
)
def test_today_is_that_of_the_event_but_never_in_the_future(now: str, zone: str, day: str) -> None:
    with time_machine.travel(now, tick=False):
        assert format_today(zone) == day


def test_a_fee_is_received_once_and_sent_back(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    decide_application(organiser, application, documentsRequired=[])
    path = build_path(event, application)
    desk.open(f"{path}/fee/received")
    assert desk.forms[1].fields["receivedOn"] == format_today("Africa/Windhoek")
    page = desk.send(form=1, amountMinor="1", receivedOn=TRANSFER_DAY)
    assert (
        page.status_code == 422
        and f"{format_money(249900)} of the fee of {format_money(250000)} is missing" in page.text
    )
    page = desk.send(form=1, amountMinor="2500.50", receivedOn=TRANSFER_DAY)
    assert page.status_code == 422 and f"This is {format_money(50)} more than the fee." in page.text
    assert "is missing" not in page.text
    assert "The fee is recorded as received." in desk.send(form=1, amountMinor="2500", receivedOn=TRANSFER_DAY).text
    desk.open(f"{path}/fee/waive")
    page = desk.send(form=1, reason="x")
    assert page.status_code == 409 and "This application does not need that now" in page.text
    page = desk.open(f"{path}/fee/refund")
    assert "It came by transfer: send it back yourself" in page.text and "wallet" not in page.text
    page = desk.send(form=1, reason="Fell ill", amountMinor="0")
    assert page.status_code == 422 and "Enter a larger number." in page.text
    page = desk.send(form=1, reason="Fell ill", amountMinor="9000")
    assert page.status_code == 422 and "Enter the fee, or less." in page.text
    assert "The refund is recorded." in desk.send(form=1, reason="Fell ill", amountMinor="").text
    assert "Refunded" in desk.open(path).text and desk.open(f"{path}/fee/nothing").status_code == 404
    page, reference = desk.open(path).text, application["reference"]
    history = page.split("<h2>History</h2>")[1]
    received = (
        f"Fee received by transfer: {format_money(250000)}, {format_calendar_day(date.fromisoformat(TRANSFER_DAY))}"
    )
    assert f"<li>{received}, “{reference}”" in history and "The fee was" not in history
    assert f"<li>Fee sent back by transfer: {format_money(250000)}, Fell ill" in history
    for word, table in (("Invoice", "stall_fee_invoice"), ("Credit note", "stall_fee_credit_note")):
        id, number = fetch_row(f"SELECT id, number FROM {table}", {})  # type: ignore[misc]
        document = f"{EVENTS}/{event['id']}/money/documents/{id}"
        assert f'<a href="{document}">{word} {number}</a>' in page and desk.open(document).status_code == 200
    page = open_as(app, client, owner, "viewer").open(path).text
    assert received in page and reference not in page.split("<h2>History</h2>")[1] and "Fell ill" not in page
    assert "Documents of the fee" not in page


def test_a_fee_from_a_wallet_goes_back_there_as_a_whole(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    decide_application(organiser, application, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay", "kapana@stalls.example"))
    path = f"{build_path(event, application)}/fee/refund"
    page = desk.open(path)
    assert "It came from a wallet, and we send it back there as a whole." in page.text and "transfer" not in page.text
    assert "amountMinor" not in desk.forms[1].fields and "reference" not in desk.forms[1].fields
    assert desk.send(form=1, reason="").status_code == 422
    assert "The wallet gets the money by itself." in desk.send(form=1, reason="Fell ill", amountMinor="1").text
    assert read(organiser, application)["payment"]["refund"]["amountMinor"] == 250000
    with transaction() as session:
        refuse_refund(session, session.get_one(Application, application["id"]))
    assert "The wallet from which it came has refused the money." in desk.open(path).text
    page = desk.send(form=1, reason="Fell ill", amountMinor="1000")
    assert page.status_code == 422 and "To send back a part, enter the text of your transfer." in page.text
    page = desk.send(form=1, reason="Fell ill", amountMinor="1000", reference="RF-1")
    refund = read(organiser, application)["payment"]["refund"]
    assert "The refund is recorded." in page.text
    assert (refund["method"], refund["amountMinor"], refund["status"]) == ("transfer", 100000, "refunded")
    history = desk.open(build_path(event, application)).text.split("<h2>History</h2>")[1]
    assert [text.split(" <span")[0] for text in history.split("<li>")[1:4]] == [
        f"Fee sent back by transfer: {format_money(100000)}, “RF-1”, Fell ill",
        f"Fee to be sent back to the wallet: {format_money(250000)}, Fell ill",
        f"Fee paid by wallet: {format_money(250000)}",
    ]


def test_a_fee_is_waived_and_a_link_made(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = apply(client, event)
    decide_application(organiser, application, documentsRequired=[])
    path = build_path(event, application)
    desk.open(f"{path}/links")
    page = desk.send(form=1, purpose="documents")
    assert page.status_code == 409 and "This application does not need that now" in page.text
    page = desk.send(form=1, purpose="payment")
    assert "/pay/" in page.text and "Mailed to kapana@stalls.example" in page.text
    desk.open(f"{path}/fee/waive")
    assert desk.send(form=1).status_code == 422
    assert "The fee is waived." in desk.send(form=1, reason="A school").text
    assert read(organiser, application)["payment"]["status"] == "waived"
    monkeypatch.setattr(stalls, "list_acts", lambda _: [])
    assert "<li>The fee was waived <span" in desk.open(path).text, "the trail ends after some years"


def test_several_are_decided_by_the_same_action(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    first, second = apply(client, event), apply(client, event, "Second Grill")
    query = f"id={first['id']}&id={second['id']}&id=nonsense"
    page = desk.open(f"{build_path(event)}/decide?{query}")
    assert "Decide 2 applications" in page.text
    token = desk.forms[1].fields["csrf_token"]
    ids = [first["id"], second["id"]]
    body = {"csrf_token": token, "id": ids, "decision": "approved", "declineReason": "For those who are declined."}
    page = desk.flask.post(f"{build_path(event)}/decide", data=body)
    assert "1 of 2 decided" in page.text and "All places of this stall type are taken." in page.text
    assert [read(organiser, application)["decision"] for application in (first, second)] == ["approved", None]
    assert read(organiser, first)["declineReason"] is None
    mails = len(list_mails_to("kapana@stalls.example"))
    assert "1 of 2 decided" in desk.flask.post(f"{build_path(event)}/decide", data=body).text
    assert len(list_mails_to("kapana@stalls.example")) == mails
    body = {**body, "id": ids[1:], "decision": "declined", "declineReason": "Full."}
    assert "1 of 1 decided" in desk.flask.post(f"{build_path(event)}/decide", data=body).text
    assert read(organiser, second)["declineReason"] == "Full."
    assert "Nothing is chosen" in desk.open(f"{build_path(event)}/decide").text
    assert desk.flask.post(f"{build_path(event)}/decide", data={**body, "decision": "x"}).status_code == 404


def test_documents_and_notes_are_for_those_who_decide(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any]
) -> None:
    application = create_approved_application(client, organiser, eventId=event["id"])
    page = open_as(app, client, owner, "viewer").open(build_path(event, application)).text
    assert "Identity document" in page and "five minutes" not in page and "Only for your team" not in page


def test_a_decider_opens_documents_from_the_page(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = create_approved_application(
        client, organiser, eventId=event["id"], documentsRequired=["identity"], email="kapana@stalls.example"
    )
    token = find_mailed_token("documents", "kapana@stalls.example")
    data(upload_documents(client, token, "identity", submit="true"))
    page = desk.open(build_path(event, application)).text
    (link,) = re.findall(r'href="([^"]*)">Look at', page)
    path = link[link.index("/api/") :]
    document = desk.flask.get(path)
    assert document.status_code == 200 and document.content_type == "application/pdf"
    execute_sql("UPDATE account_session SET ended_at = now(), end_reason = 'signed_out' WHERE kind = 'console'")
    assert desk.flask.get(path).status_code == 404


def test_the_waitlist_says_that_places_are_free(client: Client, event: dict[str, Any], desk: Visitor) -> None:
    path = f"{build_path(event, apply(client, event))}/decide/waitlist"
    page = desk.open(path)
    assert "1 place is free now: the next in line gets an offer" in page.text


@pytest.mark.parametrize("change", ["visibility = 'cancelled'", "visibility = 'archived'", "ends_at = now()"])
def test_at_a_closed_event_nothing_is_offered_that_is_refused(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor, change: str
) -> None:
    waiting, second, approved = (
        apply(client, event),
        apply(client, event, "Second Grill"),
        apply(client, event, "Third"),
    )
    decide_application(organiser, second, "waitlisted")
    decide_application(organiser, approved, overrideQuota=True, reason="Room")
    execute_sql("UPDATE event SET starts_at = now() - interval '9 days'")
    desk.open(f"{build_path(event, waiting)}/decide/approve")
    form = desk.forms[1]
    execute_sql(f"UPDATE event SET {change}")
    answer = desk.flask.post(form.action, data=form.fields)
    words = "The event is over, cancelled or archived, so this is not possible any more."
    assert answer.status_code == 409 and words in answer.text and "pay or apply" not in answer.text
    for application in (waiting, second, approved):
        page = desk.open(build_path(event, application)).text
        refused = re.findall(r"(?:decide/(?:approve|waitlist|fee)|/links|/contact|/offer)\"", page)
        assert not refused and "Still due" not in page
        assert "/decide/decline" in page or application is approved
    assert "nobody can be approved" in desk.open(build_path(event, waiting)).text
    assert "Offer a place" not in desk.open(f"{build_path(event)}/types").text
    page = desk.open(f"{build_path(event)}/decide?id={waiting['id']}&id={second['id']}").text
    assert "you can only decline" in page and "Approve all" not in page and "Pay" not in page
    desk.send(form=1, decision="declined", id=[waiting["id"], second["id"]])
    assert [read(organiser, row)["status"] for row in (waiting, second)] == ["declined", "declined"]
