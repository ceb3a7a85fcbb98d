"""Documents with a last day: they must be valid up to the end of the event, and their end is announced."""

from datetime import date, timedelta
from io import BytesIO
from typing import Any

import pytest

from app.applications import reminders
from app.core.transaction import transaction
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    PDF,
    create_approved_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql, run_all_jobs
from tests.http import Client, data, list_problems, read_error
from tests.pages.pages import Visitor

EVENT_END, BEFORE_THE_END = "2027-06-06", "2027-06-05"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def approved(client: Client, owner: Client) -> dict[str, Any]:
    return create_approved_application(client, owner, amountMinor=0, documentsRequired=["identity", "tax_clearance"])


@pytest.fixture
def token(approved: dict[str, Any]) -> str:
    return find_mailed_token("documents")


@pytest.fixture
def visitor(client: Client) -> Visitor:
    return Visitor(client.flask)


def hand_in(client: Client, token: str, expires_on: str, **form: str) -> Any:
    kinds = ("identity", "tax_clearance")
    return upload_documents(client, token, *kinds, submit="true", taxClearanceExpiresOn=expires_on, **form)


def test_document_that_expires_before_the_event_ends_is_not_enough(
    client: Client, owner: Client, approved: dict[str, Any], token: str
) -> None:
    refused = hand_in(client, token, BEFORE_THE_END)
    assert read_error(refused) == (409, "DOCUMENTS_MISSING")
    (missing,) = refused.get_json()["data"]["missing"]
    assert (missing["kind"], missing["expiresOn"]) == ("tax_clearance", BEFORE_THE_END)
    row = data(owner.get(f"{LIST}/{approved['id']}"))
    statuses = {each["kind"]: each["status"] for each in row["documents"]}
    assert statuses == {"identity": "uploaded", "tax_clearance": "expired"}
    assert [each["kind"] for each in row["requirements"]] == ["tax_clearance"]
    assert data(hand_in(client, token, EVENT_END))["status"] == "ready"
    shown = data(owner.get(f"{LIST}/{approved['id']}"))["documents"]
    assert [each.get("expiresOn") for each in shown] == [None, EVENT_END]


def test_day_of_a_document_that_is_there_can_be_set(client: Client, token: str) -> None:
    data(upload_documents(client, token, "identity", "tax_clearance"))
    set_day = data(upload_documents(client, token, identityExpiresOn=BEFORE_THE_END))
    assert [each.get("expiresOn") for each in set_day["documents"]] == [BEFORE_THE_END, None]
    assert read_error(client.post(f"{LIST}/docs/{token}")) == (409, "DOCUMENTS_MISSING")
    data(upload_documents(client, token, identityExpiresOn=EVENT_END))
    assert data(client.post(f"{LIST}/docs/{token}"))["status"] == "ready"
    late = upload_documents(client, token, identityExpiresOn=BEFORE_THE_END)
    assert read_error(late) == (409, "DOCUMENTS_CLOSED")


def test_another_file_starts_without_a_day(client: Client, token: str) -> None:
    data(upload_documents(client, token, "identity", identityExpiresOn=BEFORE_THE_END))
    replaced = data(upload_documents(client, token, "identity"))
    assert "expiresOn" not in replaced["documents"][0]


def test_day_that_is_none_is_refused(client: Client, token: str) -> None:
    refused = upload_documents(client, token, "identity", identityExpiresOn="soon")
    assert list(list_problems(refused)) == ["identityExpiresOn"]
    assert data(client.get(f"{LIST}/docs/{token}"))["documents"][0]["status"] == "missing"


def test_page_asks_for_a_newer_document(client: Client, visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/documents/{token}")
    assert 'type="date"' in page.text
    files = {kind: (BytesIO(PDF), "scan.pdf") for kind in ("identity", "tax_clearance")}
    page = visitor.send(**files, taxClearanceExpiresOn=BEFORE_THE_END)
    assert page.status_code == 422
    assert "Tax clearance certificate: this one expires before the event is over. Choose a newer one." in page.text
    page = visitor.open(f"/documents/{token}")
    assert "valid until Sat 5 June 2027, and the event is later" in page.text
    assert visitor.elements["taxClearanceExpiresOn"]["value"] == BEFORE_THE_END
    page = visitor.send(tax_clearance=(BytesIO(PDF), "new.pdf"), taxClearanceExpiresOn=EVENT_END)
    assert "<h1>We have your documents</h1>" in page.text and "valid until Sun 6 June 2027" in page.text


def test_page_says_what_is_no_day_and_keeps_nothing_of_that_document(visitor: Visitor, token: str) -> None:
    visitor.open(f"/documents/{token}")
    page = visitor.send(identity=(BytesIO(PDF), "scan.pdf"), identityExpiresOn="31/3/27")
    assert page.status_code == 422 and page.text.count("Enter a day like 2027-03-31.") == 2
    assert visitor.elements["identityExpiresOn"]["value"] == "31/3/27"
    assert "scan.pdf" not in visitor.open(f"/documents/{token}").text


def announce() -> None:
    with transaction() as session:
        reminders.enqueue_many("applications.mail_expiry", reminders._list_expiring_documents(session))
    run_all_jobs()


def list_notices() -> list[dict[str, Any]]:
    return [mail for mail in list_mails_to(EMAIL) if "expires soon" in mail["subject"]]


@pytest.mark.parametrize(("days", "count"), [(31, 0), (30, 1), (28, 1), (27, 0), (8, 0), (7, 1), (5, 1), (4, 0)])
def test_applicant_is_told_30_and_7_days_before(client: Client, token: str, days: int, count: int) -> None:
    hand_in(client, token, EVENT_END)
    execute_sql(
        "UPDATE application_document SET uploaded_at = now() - interval '90 days',"
        f" expires_on = date(now() AT TIME ZONE 'Africa/Windhoek') + {days} WHERE kind = 'tax_clearance'"
    )
    announce()
    announce()
    assert len(list_notices()) == count
    for mail in list_notices():
        assert "Tax clearance certificate, valid until" in mail["text"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE merchant_application SET status = 'withdrawn'",
        "UPDATE event SET visibility = 'cancelled'",
        "UPDATE event SET starts_at = now() - interval '2 h', ends_at = now()",
        "UPDATE application_document SET uploaded_at = now()",
    ],
)
def test_who_does_not_take_part_or_knew_it_is_not_told(client: Client, token: str, change: str) -> None:
    hand_in(client, token, EVENT_END)
    soon = date.today() + timedelta(days=6)
    execute_sql(f"UPDATE application_document SET uploaded_at = now() - interval '90 days', expires_on = '{soon}'")
    execute_sql(change)
    announce()
    assert not list_notices()
