"""A decider asks for documents again: the steps back, the mail, the files, and who comes at the same moment."""

import time
from io import BytesIO
from typing import Any

import pytest

from app.applications.actions import document_requests
from app.applications.models import Application
from tests.applications.test_reminders import list_reminders, remind
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    PDF,
    build_activation_body,
    create_application,
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.merchants import create_merchant_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error
from tests.pages.pages import Visitor
from tests.races import run_concurrently

KINDS = ("identity", "tax_clearance")
BLURRED = "The photo is blurred.\nTake it in daylight."
PARTICIPANTS = "SELECT count(*) FROM participation"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def approve(client: Client, owner: Client, **fields: Any) -> dict[str, Any]:
    return create_approved_application(client, owner, **{"amountMinor": 0, "documentsRequired": [*KINDS], **fields})


def hand_in(client: Client, *kinds: str) -> Any:
    return upload_documents(client, find_mailed_token("documents"), *kinds, submit="true")


def ask(owner: Client, application: dict[str, Any], *kinds: str, reason: str = BLURRED, **headers: Any) -> Any:
    path = f"{LIST}/{application['id']}/documents/ask-again"
    return owner.post(path, {"kinds": kinds, "reason": reason}, **headers)


def read(owner: Client, application: dict[str, Any]) -> Any:
    return data(owner.get(f"{LIST}/{application['id']}"))


def activate(client: Client, token: str) -> Any:
    return client.post(f"/api/merchant-activation/{token}", build_activation_body())


def list_requests() -> list[dict[str, Any]]:
    return [mail for mail in list_mails_to(EMAIL) if "needed again" in mail["subject"]]


def test_document_is_asked_for_again_and_another_file_leads_on(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    old_link = find_mailed_token("documents")
    assert data(hand_in(client, *KINDS))["status"] == "ready"
    activation = find_mailed_token("activate")
    row = data(ask(owner, application, "identity"))
    assert row["status"] == "awaiting_documents" and row["documentsSubmittedAt"] is None
    identity, tax = row["documents"]
    assert (identity["status"], identity["askedAgainReason"], tax["status"]) == ("asked_again", BLURRED, "uploaded")
    assert client.get(identity["url"][identity["url"].index("/api/") :]).data == PDF
    assert [(due["code"], due["kind"]) for due in row["requirements"]] == [("DOCUMENT_ASKED_AGAIN", "identity")]
    (mail,) = list_requests()
    assert "Identity document:\n  The photo is blurred.\n  Take it in daylight." in mail["text"]
    assert "The photo is blurred.<br>" in mail["html"]
    assert read_error(activate(client, activation)) == (410, "LINK_EXPIRED")
    assert client.get(f"{LIST}/docs/{old_link}").status_code == 410
    token = find_mailed_token("documents")
    shown = data(client.get(f"{LIST}/docs/{token}"))
    assert shown["documents"][0]["askedAgainReason"] == BLURRED and shown["dueAt"] is not None
    refused = client.post(f"{LIST}/docs/{token}")
    assert read_error(refused) == (409, "DOCUMENTS_MISSING")
    assert [(each["kind"], each["reason"]) for each in refused.get_json()["data"]["missing"]] == [("identity", BLURRED)]
    assert data(hand_in(client, "identity"))["status"] == "ready"
    assert {document["status"] for document in read(owner, application)["documents"]} == {"uploaded"}
    assert activate(client, find_mailed_token("activate")).status_code in (200, 201)


def test_paid_fee_stays_paid(client: Client, owner: Client) -> None:
    application = approve(client, owner, amountMinor=250000)
    hand_in(client, *KINDS)
    pay_stall_fee(client, find_mailed_token("pay"))
    assert read(owner, application)["status"] == "ready"
    assert data(ask(owner, application, *KINDS))["status"] == "awaiting_documents"
    assert data(hand_in(client, *KINDS))["status"] == "ready"
    row = read(owner, application)
    assert row["payment"]["status"] == "paid" and fetch_scalar("SELECT count(*) FROM stall_payment") == 1


def test_fee_can_be_paid_while_a_document_is_asked_for(client: Client, owner: Client) -> None:
    application = approve(client, owner, amountMinor=250000)
    hand_in(client, *KINDS)
    payment = find_mailed_token("pay")
    assert data(ask(owner, application, "identity"))["status"] == "awaiting_documents"
    pay_stall_fee(client, payment)
    assert read(owner, application)["status"] == "awaiting_documents"
    assert data(hand_in(client, "identity"))["status"] == "ready"


def test_uploaded_document_is_asked_for_before_all_are_handed_in(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    data(upload_documents(client, find_mailed_token("documents"), *KINDS))
    row = data(ask(owner, application, "tax_clearance"))
    assert [document["status"] for document in row["documents"]] == ["uploaded", "asked_again"]
    assert read_error(hand_in(client, "identity")) == (409, "DOCUMENTS_MISSING")
    assert data(hand_in(client, "tax_clearance"))["status"] == "ready"


def test_merchant_who_takes_part_keeps_their_stall(client: Client, owner: Client) -> None:
    me = create_merchant_client(client)
    application = create_application(me, owner, amountMinor=0, email=EMAIL)
    data(owner.patch(f"{LIST}/{application['id']}", {"decision": "approved", "documentsRequired": [*KINDS]}))
    hand_in(client, *KINDS)
    assert read(owner, application)["status"] == "activated"
    row = data(ask(owner, application, "identity"))
    assert (row["status"], [due["code"] for due in row["requirements"]]) == ("activated", ["DOCUMENT_ASKED_AGAIN"])
    assert "Your stall stays yours meanwhile." in list_requests()[0]["text"]
    assert data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "documents"}), 201)["purpose"]
    assert data(hand_in(client, "identity"))["status"] == "activated"
    row = read(owner, application)
    assert row["documentsSubmittedAt"] is not None and row["requirements"] == []
    assert fetch_scalar(PARTICIPANTS) == 1
    assert "You have nothing left to do." in list_mails_to(EMAIL)[0]["text"]


def accept(owner: Client, application: dict[str, Any], *kinds: str, **headers: Any) -> Any:
    return owner.post(f"{LIST}/{application['id']}/documents/accept", {"kinds": kinds}, **headers)


def list_accepted(owner: Client, application: dict[str, Any]) -> list[str]:
    return [document["kind"] for document in read(owner, application)["documents"] if document.get("acceptedAt")]


def test_documents_are_accepted_once(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    row = data(accept(owner, application, "identity"))
    assert list_accepted(owner, application) == ["identity"]
    assert data(accept(owner, application, *KINDS))["documents"][0] | {"url": "", "urlExpiresAt": ""} == row[
        "documents"
    ][0] | {"url": "", "urlExpiresAt": ""}
    assert list_accepted(owner, application) == [*KINDS]
    query = "SELECT array_agg(data->'kinds' ORDER BY at)::text FROM audit_entry WHERE action = 'documents.accepted'"
    assert fetch_scalar(query) == '{"[\\"identity\\"]","[\\"tax_clearance\\"]"}'
    assert "acceptedAt" not in str(data(client.get(f"{LIST}/docs/{find_mailed_token('documents')}")))


def test_what_cannot_be_accepted_is_named_at_once(client: Client, owner: Client) -> None:
    waiting = create_application(client, owner, email="other@stalls.example")
    assert read_error(accept(owner, waiting, "identity")) == (409, "APPLICATION_STATE")
    application = approve(client, owner)
    hand_in(client, *KINDS)
    data(accept(owner, application, "identity"))
    ask(owner, application, "identity")
    assert list_accepted(owner, application) == [], "what is asked for again is not accepted any more"
    refused = accept(owner, application, "tax_clearance", "food_safety", "identity")
    assert list_problems(refused) == {"kinds[1]": "not_uploaded", "kinds[2]": "asked_again"}
    for kinds in ((), ("picture_1",), ("passport",)):
        assert accept(owner, application, *kinds).status_code == 422
    assert list_accepted(owner, application) == []


def test_another_file_or_another_day_is_not_accepted(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    data(upload_documents(client, find_mailed_token("documents"), *KINDS))
    data(accept(owner, application, *KINDS))
    data(upload_documents(client, find_mailed_token("documents"), "identity", taxClearanceExpiresOn="2040-01-31"))
    assert list_accepted(owner, application) == []
    data(accept(owner, application, *KINDS))
    data(upload_documents(client, find_mailed_token("documents"), taxClearanceExpiresOn="2040-01-31"))
    assert list_accepted(owner, application) == [*KINDS]


def test_a_file_that_came_after_the_version_of_the_client_is_not_accepted(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    seen = owner.get(f"{LIST}/{application['id']}").headers["ETag"]
    data(ask(owner, application, "identity"))
    hand_in(client, "identity")
    for tag in (seen, '"x"', '"1", "2"'):
        assert read_error(accept(owner, application, "identity", headers={"If-Match": tag})) == (412, "STALE_VERSION")
    assert list_accepted(owner, application) == []
    current = owner.get(f"{LIST}/{application['id']}").headers["ETag"]
    data(accept(owner, application, "identity", headers={"If-Match": current}))
    data(accept(owner, application, "tax_clearance", headers={"If-Match": "*"}))
    assert list_accepted(owner, application) == [*KINDS]
    other = create_organiser_client(client, email="other@example.com")
    assert accept(other, application, "identity", headers={"If-Match": seen}).status_code == 404


def test_other_organisers_accept_nothing(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    other = create_organiser_client(client, email="other@example.com")
    assert accept(other, application, "identity").status_code == 404
    assert list_accepted(owner, application) == []


def test_two_deciders_accept_at_once(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    answers = run_concurrently(2, lambda _: accept(owner, application, *KINDS))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'documents.accepted'") == 1


def test_same_request_again_changes_nothing(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    first = data(ask(owner, application, "identity"))
    answers = run_concurrently(6, lambda _: ask(owner, application, "identity"))
    assert {data(answer)["version"] for answer in answers} == {first["version"]}
    assert len(list_requests()) == 1
    data(ask(owner, application, "identity", reason="It is cut off."))
    assert "It is cut off." in list_requests()[0]["text"] and len(list_requests()) == 2


def test_request_for_nothing_is_refused(client: Client, owner: Client) -> None:
    application = create_application(client, owner, amountMinor=0)
    assert read_error(ask(owner, application, "identity")) == (409, "APPLICATION_STATE")
    data(owner.patch(f"{LIST}/{application['id']}", {"decision": "approved", "documentsRequired": [*KINDS]}))
    data(upload_documents(client, find_mailed_token("documents"), "identity"))
    refused = ask(owner, application, "identity", "tax_clearance")
    assert list(list_problems(refused)) == ["kinds[1]"]
    assert list(list_problems(ask(owner, application, reason=""))) == ["kinds", "reason"]
    assert list(list_problems(ask(owner, application, "picture_1", reason="see www.evil.example"))) == [
        "kinds[0]",
        "reason",
    ]
    assert read(owner, application)["documents"][0]["status"] == "uploaded"
    execute_sql("UPDATE event SET starts_at = now() - interval '2 h', ends_at = now() - interval '1 h'")
    assert read_error(ask(owner, application, "identity")) == (409, "APPLICATIONS_CLOSED")


def test_documents_are_due_two_weeks_after_the_request(client: Client, owner: Client) -> None:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    execute_sql("UPDATE merchant_application SET decided_at = now() - interval '30 days'")
    data(ask(owner, application, "identity"))
    assert "were due" not in list_requests()[0]["text"]
    due_at = data(client.get(f"{LIST}/docs/{find_mailed_token('documents')}"))["dueAt"]
    assert fetch_scalar("SELECT CAST(:due_at AS timestamptz) > now() + interval '13 days'", due_at=due_at)


def test_page_of_the_applicant_says_why(client: Client, owner: Client) -> None:
    application, visitor = approve(client, owner), Visitor(client.flask)
    hand_in(client, *KINDS)
    data(ask(owner, application, "identity"))
    page = visitor.open(f"/documents/{find_mailed_token('documents')}")
    assert "the organiser asks for another file" in page.text
    assert "The photo is blurred.<br>Take it in daylight." in page.text
    assert page.text.count("Uploaded:</span>") == 1
    page = visitor.send()
    assert page.status_code == 422 and "Choose a file: identity document." in page.text
    page = visitor.send(identity=(BytesIO(PDF), "new.pdf"))
    assert "<h1>We have your documents</h1>" in page.text


def request_while(client: Client, owner: Client, application: dict[str, Any], act: Any) -> tuple[Any, Any]:
    calls = (lambda: act(client), lambda: ask(owner, application, "identity"))
    acted, asked = run_concurrently(2, lambda number: calls[number]())
    assert asked.status_code == 200, asked.get_json()
    assert fetch_scalar("SELECT documents_submitted_at IS NULL FROM merchant_application ORDER BY id DESC LIMIT 1")
    return acted, read(owner, application)


def test_request_while_the_applicant_hands_in(client: Client, owner: Client) -> None:
    for _ in range(4):
        application = approve(client, owner)
        token = find_mailed_token("documents")
        data(upload_documents(client, token, *KINDS))
        submitted, row = request_while(
            client, owner, application, lambda client, token=token: client.post(f"{LIST}/docs/{token}")
        )
        assert submitted.status_code in (200, 409, 410)
        assert (row["status"], row["documents"][0]["status"]) == ("awaiting_documents", "asked_again")
        valid = "SELECT count(*) FROM application_link WHERE purpose = 'activation' AND replaced_at IS NULL"
        assert fetch_scalar(valid) == 0


def activate_while_asked(client: Client, owner: Client, number: int) -> tuple[int, str, int]:
    application = approve(client, owner)
    hand_in(client, *KINDS)
    token = find_mailed_token("activate")
    execute_sql("DELETE FROM participation")
    execute_sql("UPDATE merchant_application SET email = :email", email=f"tuli{number}@example.com")
    activated, row = request_while(client, owner, application, lambda client: activate(client, token))
    return activated.status_code, row["status"], fetch_scalar(PARTICIPANTS)


def test_request_while_the_applicant_activates(client: Client, owner: Client) -> None:
    for number in range(4):
        status, state, participants = activate_while_asked(client, owner, number)
        assert (status < 300, state, participants) in ((True, "activated", 1), (False, "awaiting_documents", 0))


@pytest.mark.control
def test_without_the_lock_a_merchant_takes_part_and_waits(
    client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_slowly(session: Any, caller: Any, id: str, permission: Any) -> Application:
        application: Application = session.get_one(Application, id)
        time.sleep(1)
        return application

    monkeypatch.setattr(document_requests, "lock_application", find_slowly)
    _, state, participants = activate_while_asked(client, owner, 0)
    assert (state, participants) == ("awaiting_documents", 1)


def test_activated_merchant_is_reminded_of_what_was_asked_for_again(
    client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.applications.calendar.REMINDER_HOUR", 0)
    application = approve(client, owner)
    hand_in(client, *KINDS)
    data(activate(client, find_mailed_token("activate")))
    execute_sql("UPDATE merchant_application SET decided_at = decided_at - interval '30 days'")
    remind()
    assert list_reminders() == []
    data(ask(owner, application, "identity"))
    execute_sql("UPDATE merchant_application SET documents_reopened_at = now() - interval '12 days'")
    for _ in range(2):
        remind()
        (mail,) = list_reminders()
    assert "Send the documents by" in mail["text"] and "Pay by" not in mail["text"]
    hand_in(client, "identity")
    execute_sql("UPDATE merchant_application SET documents_reopened_at = now() - interval '14 days'")
    remind()
    assert len(list_reminders()) == 1
