"""Approving at the desk: which documents are asked for, and how and until when the fee is paid."""

import re
from html import unescape
from typing import Any

import pytest

from tests.factories.accounts import create_signed_in_client, list_mails_to
from tests.factories.applications import (
    PDF,
    create_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_published_event
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import execute_sql, run_all_jobs
from tests.http import Client, data
from tests.pages.desk.test_stalls import apply, build_path, read
from tests.pages.pages import Visitor

KINDS = ("identity", "business_registration", "tax_clearance", "food_safety")
CRAFTS = {"stallType": "Crafts", "amountMinor": 80000}


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    listed = [{"name": "Food", "feeMinor": 250000}, {"name": "Crafts", "feeMinor": 80000, "quantity": 9}]
    return create_published_event(organiser, name="Windhoek Lights", stallTypes=listed)


def list_ticked(page: str) -> list[str]:
    return re.findall(r'name="documentsRequired" value="(\w+)"[^>]* checked', page)


def test_documents_are_those_of_the_stall_type_and_then_of_the_last_approval(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    crafts = apply(client, event, "Ruusa Crafts", **CRAFTS)
    page = desk.open(f"{build_path(event, crafts)}/decide/approve").text
    assert list_ticked(page) == [*KINDS[:3]] and "if the stall type (Crafts) names food or drink" in page
    food = desk.open(f"{build_path(event, apply(client, event))}/decide/approve")
    assert list_ticked(food.text) == [*KINDS]
    decide_application(organiser, crafts, documentsRequired=["tax_clearance"])
    other = apply(client, event, "Ndapewa Baskets", **CRAFTS)
    page = desk.open(f"{build_path(event, other)}/decide/approve").text
    assert list_ticked(page) == ["tax_clearance"] and "of your last approval of this stall type (Crafts)" in page
    assert "The application is approved." in desk.send(form=1).text
    assert [document["kind"] for document in read(organiser, other)["documents"]] == ["tax_clearance"]
    food = desk.open(f"{build_path(event, apply(client, event, 'Second Grill'))}/decide/approve")
    assert list_ticked(food.text) == [*KINDS]


def test_no_tick_asks_for_no_document(client: Client, organiser: Client, event: dict[str, Any], desk: Visitor) -> None:
    application = apply(client, event)
    desk.open(f"{build_path(event, application)}/decide/approve")
    desk.send(form=1, documentsRequired="")
    assert read(organiser, application)["documents"] == []


def test_several_are_asked_for_the_same_documents(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    decide_application(organiser, apply(client, event, "Ruusa Crafts", **CRAFTS), documentsRequired=["identity"])
    crafts, food = apply(client, event, "Ndapewa Baskets", **CRAFTS), apply(client, event)
    waiting = apply(client, event, "Tjikko Carvings", **CRAFTS)
    decide_application(organiser, waiting, "waitlisted", documentsRequired=["tax_clearance"])
    ids = [application["id"] for application in (crafts, food, waiting)]
    page = desk.open(f"{build_path(event)}/decide?" + "&".join(f"id={id}" for id in ids)).text
    assert page.count('<span class="fine">Identity document</span>') == 1
    assert page.count('<span class="fine">Tax clearance certificate</span>') == 1
    body = {"csrf_token": desk.forms[1].fields["csrf_token"], "id": ids, "decision": "approved"}
    assert "3 of 3 decided" in desk.flask.post(f"{build_path(event)}/decide", data=body).text
    kinds = [[document["kind"] for document in read(organiser, each)["documents"]] for each in (crafts, food, waiting)]
    assert (kinds[0], len(kinds[1]), kinds[2]) == (["identity"], 4, ["tax_clearance"])


def open_joint(desk: Visitor, event: dict[str, Any], *applications: dict[str, Any]) -> str:
    ids = "&".join(f"id={application['id']}" for application in applications)
    return desk.open(f"{build_path(event)}/decide?{ids}").text


def list_asked(organiser: Client, *applications: dict[str, Any]) -> list[list[str]]:
    return [[document["kind"] for document in read(organiser, each)["documents"]] for each in applications]


def send_joint(desk: Visitor, event: dict[str, Any], *applications: dict[str, Any], **values: Any) -> str:
    body = {name: value for name, value in desk.forms[1].fields.items() if name != "documentsRequired"}
    body |= {"id": [application["id"] for application in applications], "decision": "approved", **values}
    return desk.flask.post(f"{build_path(event)}/decide", data=body).text


def test_the_documents_of_several_of_one_type_are_ticked(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    first, second, waiting = (apply(client, event, f"Stall {number}", **CRAFTS) for number in range(3))
    decide_application(organiser, waiting, "waitlisted", documentsRequired=["identity"])
    page = open_joint(desk, event, first, second, waiting)
    assert list_ticked(page) == [*KINDS[:3]] and page.count('<span class="fine">Identity document</span>') == 1
    page = send_joint(desk, event, first, second, waiting, documentsRequired=["identity", "food_safety"])
    assert "3 of 3 decided" in page
    assert list_asked(organiser, first, second) == [["identity", "food_safety"]] * 2
    assert list_asked(organiser, waiting) == [["identity"]], "those of the waitlist were chosen there"


def test_no_tick_for_several_asks_for_no_document(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    first, second = (apply(client, event, f"Stall {number}", **CRAFTS) for number in range(2))
    open_joint(desk, event, first, second)
    send_joint(desk, event, first, second)
    assert list_asked(organiser, first, second) == [[], []]


def test_a_wrong_day_keeps_the_ticks(client: Client, organiser: Client, event: dict[str, Any], desk: Visitor) -> None:
    crafts = apply(client, event, **CRAFTS)
    open_joint(desk, event, crafts)
    page = send_joint(desk, event, crafts, documentsRequired=["identity"], payBy="soon")
    assert list_ticked(page) == ["identity"] and read(organiser, crafts)["status"] == "submitted"
    page = send_joint(desk, event, crafts, documentsRequired=["passport"])
    assert read(organiser, crafts)["status"] == "submitted"


def test_an_application_that_changed_its_type_gets_the_documents_of_it(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    crafts, food = apply(client, event, "Ruusa Crafts", **CRAFTS), apply(client, event)
    open_joint(desk, event, crafts)
    send_joint(desk, event, crafts, food, documentsRequired=["identity"])
    assert list_asked(organiser, crafts, food) == [["identity"], [*KINDS]]


def test_documents_that_come_along_are_shown_as_there(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    merchant = create_merchant_account()
    me = create_signed_in_client(client, merchant)
    fields = {"eventId": event["id"], "email": merchant.email, **CRAFTS}
    first = create_application(me, **fields)
    decide_application(organiser, first, documentsRequired=["identity", "tax_clearance"])
    run_all_jobs()
    token = find_mailed_token("documents", merchant.email)
    form = {"identityExpiresOn": "2030-01-31", "submit": "true"}
    data(upload_documents(client, token, "identity", "tax_clearance", content=PDF, **form))
    page = desk.open(f"{build_path(event, create_application(me, **fields))}/decide/approve").text
    assert f"from their application {first['reference']}, valid until Thu 31 January 2030<" in page
    assert f"from their application {first['reference']}<" in page
    stranger = apply(client, event, "Ruusa Crafts", **CRAFTS)
    assert "there already" not in desk.open(f"{build_path(event, stranger)}/decide/approve").text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "from the wallet ••••4567, once approved"),
        ({"destination": "bank"}, "by bank transfer, once approved"),
        ({"payrailMsisdn": None}, "from a mobile wallet, once approved"),
    ],
)
def test_way_to_pay_and_day_are_shown(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor, fields: dict[str, Any], words: str
) -> None:
    application = apply(client, event, **fields)
    path = build_path(event, application)
    page = desk.open(path).text
    assert f"<dd>{words}</dd>" in page and "264811234567" not in page.split("Who applies")[0]
    page = desk.open(f"{path}/decide/approve").text
    assert f"The applicant has chosen to pay {words}." in page
    due = page.split("Due by ")[1].split(". The applicant")[0]
    decide_application(organiser, application)
    assert due in desk.open(path).text


def test_the_day_of_the_fee_is_chosen_and_changed(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    path = build_path(event, application)
    desk.open(f"{path}/decide/approve")
    assert "Choose today or a later day." in desk.send(form=1, payBy="2020-01-01").text
    assert "The application is approved." in desk.send(form=1, payBy="2027-06-01").text
    assert "Tue 1 June 2027" in desk.open(path).text
    desk.open(f"{path}/decide/fee")
    page = desk.send(form=1, reason="They asked for more time", payBy="2027-06-02").text
    assert "The fee is changed." in page and "Wed 2 June 2027" in page


def test_the_approval_warns_where_only_transfers_are_taken(
    client: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event)
    execute_sql("UPDATE organiser_profile SET transfers_only = true")
    page = desk.open(f"{build_path(event, application)}/decide/approve").text
    assert "has chosen to pay by bank transfer" in page and "The applicant cannot see where to pay" in page


def test_free_stall_has_no_way_to_pay(client: Client, organiser: Client, desk: Visitor) -> None:
    event = create_published_event(organiser, name="Desert Days")
    application = apply(client, event, amountMinor=0)
    path = build_path(event, application)
    assert "Way to pay" not in desk.open(path).text
    assert "Due by" not in desk.open(f"{path}/decide/approve").text


@pytest.mark.parametrize(
    ("fee", "said"),
    [
        ("800", "The stall fee is N$ 800.00, due on "),
        ("1300.50", "Your stall fee is N$ 1 300.50 instead of N$ 800.00, due on "),
        ("0", "You pay no stall fee, instead of N$ 800.00."),
    ],
)
def test_the_mail_of_an_approval_names_both_fees(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor, fee: str, said: str
) -> None:
    application = apply(client, event, "Ruusa Crafts", **CRAFTS)
    page = desk.open(f"{build_path(event, application)}/decide/approve").text
    assert "their mail has the new fee and the one that they applied with" in page
    desk.send(form=1, fee=fee, reason="Two places <wide>")
    run_all_jobs()
    mail = list_mails_to("ruusa@stalls.example")[0]
    text, html = (" ".join(unescape(re.sub(r"<[^>]+>", "", mail[part])).split()) for part in ("text", "html"))
    assert said in text and said in html and "wide" not in text + html
    assert ("instead" in text) == (fee != "800")
