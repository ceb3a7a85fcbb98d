"""Applications to an event that is over, cancelled or archived: nothing goes on, and everything can end."""

import pytest

from tests.blueprints.test_activation import PATH as ACTIVATION_PATH
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_activation_body,
    create_application,
    create_approved_application,
    create_offered_application,
    create_ready_application,
    decide_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, read_error

CLOSED = (409, "APPLICATIONS_CLOSED")
OVER = "ends_at = now(), starts_at = now() - interval '1 h'"
pytestmark = pytest.mark.parametrize("change", ["visibility = 'cancelled'", "visibility = 'archived'", OVER])


def end_event(change: str) -> None:
    execute_sql(f"UPDATE event SET {change}")


@pytest.mark.parametrize("decision", ["approved", "waitlisted"])
def test_nothing_is_approved_or_mailed(client: Client, change: str, decision: str) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    end_event(change)
    mails = len(list_mails_to(EMAIL))
    response = owner.patch(f"{LIST}/{application['id']}", {"decision": decision})
    assert read_error(response) == CLOSED and len(list_mails_to(EMAIL)) == mails
    assert decide_application(owner, application, "declined")["status"] == "declined"


def test_no_document_and_no_new_link(client: Client, change: str) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner)
    token = find_mailed_token("documents")
    end_event(change)
    assert read_error(upload_documents(client, token, "identity")) == CLOSED
    assert fetch_scalar("SELECT count(*) FROM application_document") == 0
    assert read_error(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "documents"})) == CLOSED
    assert decide_application(owner, application, "declined", reason="No event")["status"] == "declined"


def test_no_activation(client: Client, change: str) -> None:
    token = create_ready_application(client, create_organiser_client(client))
    end_event(change)
    assert read_error(client.post(f"{ACTIVATION_PATH}/{token}", build_activation_body())) == CLOSED
    assert fetch_scalar("SELECT count(*) FROM participation") == 0
    assert fetch_scalar("SELECT count(*) FROM account WHERE email = :email", email=EMAIL) == 0


def test_no_payment(client: Client, change: str) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    path = f"{LIST}/pay/{find_mailed_token('pay')}"
    end_event(change)
    assert read_error(client.post(path)) == CLOSED


def test_no_accepted_offer(client: Client, change: str) -> None:
    create_offered_application(client, create_organiser_client(client))
    path = f"{LIST}/offer/{find_mailed_token('place-offer')}"
    end_event(change)
    expected = (410, "PLACE_OFFER_ENDED") if change == OVER else CLOSED
    assert read_error(client.post(path, {"answer": "accepted"})) == expected
