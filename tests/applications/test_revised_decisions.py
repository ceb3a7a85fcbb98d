"""A refusal that is taken back: the application begins again, with the documents of the new decision."""

from app.applications import erasure
from app.core.transaction import transaction
from tests.factories.applications import (
    LIST,
    create_approved_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql
from tests.http import Client, data


def list_missing(row: dict[str, object]) -> list[str]:
    requirements = row["requirements"]
    assert isinstance(requirements, list)
    return [entry["kind"] for entry in requirements if entry["code"] == "DOCUMENT_MISSING"]


def reopen_application(client: Client, owner: Client) -> dict[str, object]:
    """An application that was refused after it had handed in an identity document, and is open again."""
    application = create_approved_application(client, owner, amountMinor=0, documentsRequired=["identity"])
    data(upload_documents(client, find_mailed_token("documents"), "identity", submit="true"))
    decide_application(owner, application, "declined", reason="The grounds are smaller")
    return decide_application(owner, application, "submitted", reason="They are not")


def test_documents_of_a_second_decision_are_collected(client: Client) -> None:
    owner = create_organiser_client(client)
    row = decide_application(owner, reopen_application(client, owner), documentsRequired=["identity", "tax_clearance"])
    assert (row["status"], list_missing(row)) == ("awaiting_documents", ["tax_clearance"])
    token = find_mailed_token("documents")
    data(upload_documents(client, token, "tax_clearance", submit="true"))
    assert data(owner.get(f"{LIST}/{row['id']}"))["status"] == "ready"


def test_erased_documents_are_collected_again(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, amountMinor=0, documentsRequired=["identity"])
    data(upload_documents(client, find_mailed_token("documents"), "identity", submit="true"))
    decide_application(owner, application, "declined", reason="The grounds are smaller")
    execute_sql("UPDATE merchant_application SET updated_at = now() - interval '91 days'")
    with transaction() as session:
        assert erasure.erase_ended_documents(session, 90) == 1
    decide_application(owner, application, "submitted", reason="They are not")
    row = decide_application(owner, application, documentsRequired=["identity"])
    assert (row["status"], list_missing(row)) == ("awaiting_documents", ["identity"])
