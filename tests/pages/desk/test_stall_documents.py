"""Asking for documents again at the desk."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.accounts.models import Account
from tests.factories.accounts import list_mails_to
from tests.factories.applications import PDF, decide_application, find_mailed_token, upload_documents
from tests.factories.events import create_published_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.desk.test_stalls import apply, build_path, read
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner

REASON = "The photo is blurred."


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_published_event(organiser, name="Windhoek Lights")


@pytest.fixture
def applied(client: Client, organiser: Client, event: dict[str, Any]) -> dict[str, Any]:
    application = apply(client, event, amountMinor=0)
    decide_application(organiser, application, documentsRequired=["identity", "tax_clearance"])
    token = find_mailed_token("documents", "kapana@stalls.example")
    data(upload_documents(client, token, "identity", "tax_clearance", submit="true", content=PDF))
    return application


def test_a_document_is_asked_for_again_once(
    organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    path = build_path(event, applied)
    page = desk.open(path).text
    assert page.count("Ask for it again") == 2 and f"{path}/documents/ask-again?kind=identity" in page
    page = desk.open(f"{path}/documents/ask-again?kind=identity").text
    assert 'value="identity" id="kinds" checked' in page and 'value="tax_clearance" checked' not in page
    assert "food_safety" not in page
    refused = desk.send(form=1, reason="See www.evil.example")
    assert refused.status_code == 422 and "See www.evil.example" in refused.text
    fields = {"kinds": "identity", "reason": REASON}
    for _ in range(2):
        assert desk.press(form=1, **fields).status_code == 303
    page = desk.open(path).text
    assert "Asked for again" in page and REASON in page and page.count("Ask for it again") == 1
    assert "Identity document: another file has to be uploaded." in page
    assert "Asked again: Identity document" in page
    assert read(organiser, applied)["status"] == "awaiting_documents"


def accept(client: Client, application: dict[str, Any], *kinds: str, **headers: Any) -> Any:
    path = f"/api/merchant-applications/{application['id']}/documents/accept"
    return client.post(path, {"kinds": kinds}, **headers)


def test_documents_wait_until_a_decider_has_accepted_each(
    app: Flask,
    client: Client,
    owner: Account,
    organiser: Client,
    event: dict[str, Any],
    applied: dict[str, Any],
    desk: Visitor,
) -> None:
    path, home = build_path(event, applied), "1 application with new documents"
    assert home in desk.open("/desk").text
    assert applied["id"] in desk.open(f"{build_path(event)}?hasNewDocuments=true").text
    page = desk.open(path).text
    assert page.count("not accepted yet") == 2 and "Accept all documents" in page
    mark = '<span class="tag">New documents</span>'
    assert mark in desk.open(build_path(event)).text
    viewer = open_as(app, client, owner, "viewer")
    apply(client, event, email="braai@stalls.example")
    assert 'name="id"' in desk.open(build_path(event)).text, "who may decide chooses applications"
    page = viewer.open(build_path(event)).text
    assert mark not in page and 'name="id"' not in page
    body = {"kinds": ["tax_clearance"], "reason": REASON}
    data(organiser.post(f"/api/merchant-applications/{applied['id']}/documents/ask-again", body))
    assert home in desk.open("/desk").text, "the other document waits while one is asked for again"
    for document in read(organiser, applied)["documents"]:
        assert document["openedAt"] is None and document["acceptedAt"] is None
        assert organiser.get(urlsplit(document["url"]).path).status_code == 200
    page = desk.open(path).text
    assert page.count("not accepted yet") == 1 and "Accept all documents" not in page
    assert home in desk.open("/desk").text, "an opened document waits"
    desk.open(path)
    assert "Accepted: Identity document" in desk.send(form=1).text
    assert "not accepted yet" not in desk.open(path).text and home not in desk.open("/desk").text
    assert applied["id"] not in desk.open(f"{build_path(event)}?hasNewDocuments=true").text
    assert mark not in desk.open(build_path(event)).text
    opened = read(organiser, applied)["documents"][0]["openedAt"]
    organiser.get(urlsplit(read(organiser, applied)["documents"][0]["url"]).path)
    assert read(organiser, applied)["documents"][0]["openedAt"] == opened
    body = {"kinds": ["identity"], "reason": REASON}
    data(organiser.post(f"/api/merchant-applications/{applied['id']}/documents/ask-again", body))
    token = find_mailed_token("documents", "kapana@stalls.example")
    data(upload_documents(client, token, "identity", "tax_clearance", submit="true", content=PDF))
    assert desk.open(path).text.count("not accepted yet") == 2 and home in desk.open("/desk").text


def test_all_documents_are_accepted_at_once(
    owner: Account, organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    path = build_path(event, applied)
    assert "Documents count as soon as they are sent." in desk.open(path).text
    for _ in range(2):
        assert desk.press(form=3).status_code == 303
    page = desk.open(path).text
    assert "not accepted yet" not in page and "/documents/accept" not in page and "Documents count as" not in page
    assert (
        page.count(f" by {owner.name}") == 2
        and page.split("History")[1].count("Accepted: Identity document, Tax cl") == 1
    )
    row = read(organiser, applied)
    assert row["documents"][0]["acceptedAt"] == row["documents"][1]["acceptedAt"] is not None
    assert row["status"] == "ready", "it was before, and is"


def test_all_documents_leave_out_what_expires_or_is_not_handed_in(
    client: Client, organiser: Client, event: dict[str, Any], desk: Visitor
) -> None:
    application = apply(client, event, "Late Docs", amountMinor=0)
    kinds = ("identity", "tax_clearance", "food_safety")
    decide_application(organiser, application, documentsRequired=[*kinds])
    token, path = find_mailed_token("documents", "late@stalls.example"), build_path(event, application)
    data(upload_documents(client, token, *kinds, submit="false", content=PDF))
    page = desk.open(path).text
    assert page.count("not accepted yet") == 3 and "Accept all documents" not in page
    data(upload_documents(client, token, submit="true"))
    assert "Accept all documents" in desk.open(path).text
    execute_sql("UPDATE application_document SET expires_on = '2020-01-01' WHERE kind = 'identity'")
    page = desk.open(path).text
    assert page.count("not accepted yet") == 3 and 'value="tax_clearance,food_safety"' in page


def test_a_file_that_came_meanwhile_is_not_accepted(
    client: Client, organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    desk.open(build_path(event, applied))
    body = {"kinds": ["identity"], "reason": REASON}
    data(organiser.post(f"/api/merchant-applications/{applied['id']}/documents/ask-again", body))
    token = find_mailed_token("documents", "kapana@stalls.example")
    data(upload_documents(client, token, "identity", submit="true", content=PDF))
    assert "Look at the documents again." in desk.send(form=1).text
    assert [document["acceptedAt"] for document in read(organiser, applied)["documents"]] == [None, None]
    desk.open(build_path(event, applied))
    assert "Choose one of the choices." not in desk.send(form=1, kinds="passport").text
    assert [document["acceptedAt"] for document in read(organiser, applied)["documents"]] == [None, None]


def test_only_who_decides_accepts(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any], applied: dict[str, Any]
) -> None:
    path = build_path(event, applied)
    for role, status in (("finance", 403), ("viewer", 403), ("manager", 303)):
        visitor = open_as(app, client, owner, role)
        page = visitor.open(path).text
        assert ("Accept all documents" in page) == ("not accepted yet" in page) == (status == 303)
        visitor.open("/account")
        fields = {**visitor.forms[0].fields, "kinds": "identity", "version": str(read(organiser, applied)["version"])}
        assert visitor.flask.post(f"{path}/documents/accept", data=fields).status_code == status, role
    stranger = sign_in_browser(app, create_owner("Other"))
    stranger.open("/account")
    assert stranger.flask.post(f"{path}/documents/accept", data=stranger.forms[0].fields).status_code == 404


def test_the_history_keeps_what_happened_twice_and_who_did_it(
    client: Client, owner: Account, organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    for _ in range(2):
        body = {"kinds": ["identity"], "reason": REASON}
        data(organiser.post(f"/api/merchant-applications/{applied['id']}/documents/ask-again", body))
        token = find_mailed_token("documents", "kapana@stalls.example")
        data(upload_documents(client, token, "identity", submit="true", content=PDF))
    history = desk.open(build_path(event, applied)).text.split("History")[1]
    assert history.count("Asked again: Identity document") == 2 and history.count("Handed in the documents") == 3
    assert history.count(f" · {owner.name}</span>") == 3, "who approved it, and who asked again twice"
    assert history.index("Handed in the documents") < history.index("Asked again") < history.index("Approved")


def test_a_file_that_came_meanwhile_is_looked_at_first(
    client: Client, organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    desk.open(f"{build_path(event, applied)}/documents/ask-again?kind=identity")
    body = {"kinds": ["tax_clearance"], "reason": REASON}
    data(organiser.post(f"/api/merchant-applications/{applied['id']}/documents/ask-again", body))
    answer = desk.send(form=1, kinds="identity", reason=REASON)
    assert answer.status_code == 412
    assert read(organiser, applied)["documents"][0]["status"] == "uploaded"


def test_only_who_decides_may_ask(
    app: Flask, client: Client, owner: Account, event: dict[str, Any], applied: dict[str, Any]
) -> None:
    path = f"{build_path(event, applied)}/documents/ask-again"
    for role, status in (("manager", 200), ("finance", 403), ("viewer", 403)):
        visitor = open_as(app, client, owner, role)
        assert visitor.open(path).status_code == status
        assert ("Ask for it again" in visitor.open(build_path(event, applied)).text) == (status == 200)
    assert sign_in_browser(app, create_owner("Other")).open(path).status_code == 404


def test_there_is_nothing_to_ask_for_before_the_approval(client: Client, event: dict[str, Any], desk: Visitor) -> None:
    waiting = apply(client, event, "Ruusa Bakes")
    assert desk.open(f"{build_path(event, waiting)}/documents/ask-again").status_code == 404


def test_the_contact_is_corrected(
    organiser: Client, event: dict[str, Any], applied: dict[str, Any], desk: Visitor
) -> None:
    path = build_path(event, applied)
    assert list_mails_to("kapana@stalls.example"), "what was sent before is delivered before"
    assert f"{path}/contact" in desk.open(path).text
    desk.open(f"{path}/contact")
    refused = desk.send(form=1, email="nobody", phone="1")
    assert refused.status_code == 422 and 'href="#email"' in refused.text and 'href="#phone"' in refused.text
    desk.open(f"{path}/contact")
    for _ in range(2):
        assert desk.press(form=1, email="kapana.corner@stalls.example", contactName="", phone="").status_code == 303
    page = desk.open(path).text
    assert "kapana.corner@stalls.example" in page and "How to reach the applicant was corrected" in page
    assert len(list_mails_to("kapana.corner@stalls.example")) == 1
    desk.open(f"{path}/contact")
    data(organiser.patch(f"/api/merchant-applications/{applied['id']}/contact", {"phone": "+264811234567"}))
    assert desk.send(form=1, email="other@stalls.example").status_code == 412
