"""A returning merchant sends only what is missing or expired: accepted documents come along within one organisation."""

from typing import Any

import pytest

from app.applications import carried_documents
from app.applications.erasure import erase_documents
from app.applications.models import ApplicationDocument
from app.clients import storage
from app.core.transaction import transaction
from tests.factories.accounts import create_signed_in_client
from tests.factories.applications import (
    LIST,
    PDF,
    create_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.http import Client, data

KINDS = ["identity", "business_registration", "tax_clearance"]
DAY_BEFORE_EVENT_END = "2027-06-05"
SCAN = PDF + b"% the scan of the first application\n%%EOF\n"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


class Merchant:
    """A merchant with an account, and what they do."""

    def __init__(self, client: Client, **details: Any) -> None:
        self.client, self.account = client, create_merchant_account(**details)
        self.me = create_signed_in_client(client, self.account)

    def apply(self, owner: Client, caller: Client | None = None, **fields: Any) -> dict[str, Any]:
        """An approved application to a new event of the organiser."""
        event = create_published_event(owner)
        body = {"eventId": event["id"], "amountMinor": 0, "email": self.account.email, **fields}
        application = create_application(caller or self.me, **body)
        decided = decide_application(owner, application, documentsRequired=KINDS)
        run_all_jobs()
        return decided

    @property
    def token(self) -> str:
        return find_mailed_token("documents", self.account.email)

    def submit(self, *kinds: str, **form: str) -> dict[str, Any]:
        return data(upload_documents(self.client, self.token, *kinds, content=SCAN, submit="true", **form))

    def list_documents(self) -> dict[str, dict[str, Any]]:
        return {row["kind"]: row for row in data(self.client.get(f"{LIST}/docs/{self.token}"))["documents"]}


@pytest.fixture
def merchant(client: Client) -> Merchant:
    return Merchant(client)


def count_carried() -> int:
    return int(fetch_scalar("SELECT count(*) FROM application_document WHERE carried_from IS NOT NULL"))


def test_valid_documents_come_along_and_the_expired_one_is_missing(owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS, identityExpiresOn="2030-01-31")
    execute_sql(
        "UPDATE application_document SET expires_on = :day WHERE kind = 'tax_clearance'", day=DAY_BEFORE_EVENT_END
    )
    second = merchant.apply(owner)
    rows = merchant.list_documents()
    assert {kind: row["status"] for kind, row in rows.items()} == {
        "identity": "uploaded",
        "business_registration": "uploaded",
        "tax_clearance": "missing",
    }
    assert rows["identity"]["carriedFrom"] == first["reference"] and rows["identity"]["expiresOn"] == "2030-01-31"
    assert "carriedFrom" not in rows["tax_clearance"]
    seen = {row["kind"]: row for row in data(owner.get(f"{LIST}/{second['id']}"))["documents"]}
    assert seen["identity"]["carriedFrom"] == first["reference"]
    url = seen["identity"]["url"]
    assert owner.get(url[url.index("/api/") :]).get_data() == SCAN
    assert merchant.submit("tax_clearance")["status"] == "activated"


def test_document_that_is_asked_for_again_does_not_come_along(owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS)
    body = {"kinds": ["identity"], "reason": "The photo is blurred."}
    data(owner.post(f"{LIST}/{first['id']}/documents/ask-again", body))
    token = merchant.token
    merchant.apply(owner)
    assert count_carried() == 0
    upload_documents(merchant.client, token, "identity", submit="true")
    merchant.apply(owner)
    assert {row["status"] for row in merchant.list_documents().values()} == {"uploaded"}


def test_accepted_documents_stay_accepted(owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS)
    row = data(owner.post(f"{LIST}/{first['id']}/documents/accept", {"kinds": ["identity"]}))
    second = merchant.apply(owner)
    accepted = {
        document["kind"]: document["acceptedAt"] for document in data(owner.get(f"{LIST}/{second['id']}"))["documents"]
    }
    assert accepted["identity"] == row["documents"][0]["acceptedAt"] is not None
    assert accepted["tax_clearance"] is None


def test_page_says_where_a_document_comes_from(client: Client, owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS, identityExpiresOn="2030-01-31")
    merchant.apply(owner)
    page = client.get(f"/documents/{merchant.token}").get_data(as_text=True)
    assert f"from your application {first['reference']}, valid until Thu 31 January 2030." in page
    assert f"from your application {first['reference']}. You need not send it again." in page


def test_carried_document_can_be_replaced(client: Client, owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS)
    merchant.apply(owner)
    data(upload_documents(client, merchant.token, "identity", content=PDF))
    run_all_jobs()
    assert "carriedFrom" not in merchant.list_documents()["identity"]
    query = "SELECT stored_as FROM application_document WHERE application_id = :id AND kind = 'identity'"
    assert storage.get(fetch_scalar(query, id=first["id"])) == SCAN


def test_deleting_one_application_keeps_the_files_of_the_other(owner: Client, merchant: Merchant) -> None:
    first = merchant.apply(owner)
    merchant.submit(*KINDS)
    second = merchant.apply(owner)
    with transaction() as session:
        erase_documents(session, ApplicationDocument.application_id == first["id"])
    run_all_jobs()
    query = "SELECT stored_as FROM application_document WHERE application_id = :id AND kind = 'identity'"
    assert storage.get(fetch_scalar(query, id=second["id"])) == SCAN


def test_nothing_comes_along_to_another_organisation(client: Client, owner: Client, merchant: Merchant) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    merchant.apply(create_organiser_client(client))
    assert {row["status"] for row in merchant.list_documents().values()} == {"missing"} and not count_carried()


def test_nothing_comes_along_without_signing_in(client: Client, owner: Client, merchant: Merchant) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    merchant.apply(owner, caller=client)
    assert not count_carried()


def test_nothing_comes_along_from_an_application_known_by_its_address_only(
    client: Client, owner: Client, merchant: Merchant
) -> None:
    merchant.apply(owner, caller=client)
    merchant.submit(*KINDS)
    merchant.apply(owner)
    assert not count_carried()


def test_nothing_comes_along_for_an_unverified_account(owner: Client, merchant: Merchant) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE id = :id", id=merchant.account.id)
    merchant.apply(owner)
    assert not count_carried()


def test_nothing_comes_along_to_the_application_of_another_merchant(
    client: Client, owner: Client, merchant: Merchant
) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    Merchant(client).apply(owner)
    assert not count_carried()


@pytest.mark.parametrize("end", ["not_sent", "declined"])
def test_documents_that_were_not_accepted_stay(owner: Client, merchant: Merchant, end: str) -> None:
    first = merchant.apply(owner, amountMinor=1000)
    if end == "not_sent":
        data(upload_documents(merchant.client, merchant.token, "identity"))
    else:
        merchant.submit(*KINDS)
        decide_application(owner, first, "declined", reason="no place")
    merchant.apply(owner)
    assert not count_carried()


def test_upload_at_the_same_time_wins(
    client: Client, owner: Client, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    execute_sql("UPDATE application_document SET expires_on = '2027-01-01' WHERE kind <> 'identity'")
    put, names = storage.put, []

    def put_and_upload(name: str, content: Any, *, content_type: str) -> None:
        put(name, content, content_type=content_type)
        if not names:
            names.append(name)
            data(upload_documents(client, merchant.token, "identity", content=PDF))

    monkeypatch.setattr(carried_documents.storage, "put", put_and_upload)
    merchant.apply(owner)
    assert names and not count_carried() and storage.get(names[0]) is None
    assert "carriedFrom" not in merchant.list_documents()["identity"]


def test_repeated_job_changes_nothing(owner: Client, merchant: Merchant) -> None:
    merchant.apply(owner)
    merchant.submit(*KINDS)
    merchant.apply(owner)
    before = merchant.list_documents()
    execute_sql("UPDATE outbox SET state = 'ready', done_at = NULL WHERE kind = 'applications.carry_documents'")
    run_all_jobs()
    assert merchant.list_documents() == before and count_carried() == 3
