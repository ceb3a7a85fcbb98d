"""Correcting how an applicant is reached."""

from typing import Any

import pytest

from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    create_application,
    create_offered_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

LIST = "/api/merchant-applications"
OLD, NEW = "kapan@stalls.example", "kapana@stalls.example"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def correct(owner: Client, application: dict[str, Any], **body: Any) -> Any:
    return owner.patch(f"{LIST}/{application['id']}/contact", body)


def test_a_new_address_gets_new_links_and_the_old_ones_end(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    decide_application(owner, application, documentsRequired=["identity"])
    old_token = find_mailed_token("documents", OLD)
    changed = data(correct(owner, application, email=NEW, contactName="Tuli", phone=None))
    assert (changed["email"], changed["contactName"], changed["phone"]) == (NEW, "Tuli", None)
    assert client.get(f"{LIST}/docs/{old_token}").status_code in (404, 410)
    assert client.get(f"{LIST}/docs/{find_mailed_token('documents', NEW)}").status_code == 200
    count = len(list_mails_to(NEW))
    assert data(correct(owner, application, email=NEW))["version"] == changed["version"]
    data(correct(owner, application, phone="+264811234567"))
    assert len(list_mails_to(NEW)) == count, "no mail without another address"


def test_an_application_that_waits_is_acknowledged_again(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    assert list_mails_to(OLD)
    data(correct(owner, application, email=NEW))
    assert len(list_mails_to(NEW)) == 1


def test_failed_mails_to_the_old_address_leave_their_list(client: Client, owner: Client) -> None:
    event = create_published_event(owner)
    application, other = (create_application(client, owner, eventId=event["id"], email=OLD) for _ in range(2))
    execute_sql(
        "INSERT INTO failed_mail (id, event_id, kind, application_id, address, reason)"
        " SELECT id, event_id, 'applications.mail', id, email, 'unknown' FROM merchant_application"
    )
    data(correct(owner, application, phone="+264811234567"))
    assert fetch_scalar("SELECT count(*) FROM failed_mail") == 2, "nothing was mailed again"
    data(correct(owner, application, email=NEW))
    assert fetch_scalar("SELECT application_id FROM failed_mail") == other["id"]


def test_an_open_offer_goes_to_the_new_address(client: Client, owner: Client) -> None:
    application = create_offered_application(client, owner, email=OLD)
    old_token = find_mailed_token("place-offer", OLD)
    data(correct(owner, application, email=NEW))
    assert client.get(f"{LIST}/offer/{old_token}").status_code == 404
    new_token = find_mailed_token("place-offer", NEW)
    data(client.post(f"{LIST}/offer/{new_token}", {"answer": "accepted"}))
    assert data(owner.get(f"{LIST}/{application['id']}"))["decision"] == "approved"


def test_an_ended_application_and_wrong_values_are_refused(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    assert correct(owner, application, email="no address", phone="x").status_code == 422
    assert correct(owner, application, email=None).status_code == 422
    assert correct(create_organiser_client(client), application, email=NEW).status_code in (403, 404)
    decide_application(owner, application, "declined")
    assert read_error(correct(owner, application, email=NEW)) == (409, "APPLICATION_STATE")
    assert data(owner.get(f"{LIST}/{application['id']}"))["email"] == OLD and list_mails_to(NEW) == []


def test_many_corrections_at_once_mail_each_address_once(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    assert list_mails_to(OLD)
    answers = run_concurrently(8, lambda number: correct(owner, application, email=NEW).status_code)
    assert set(answers) <= {200, 429} and len(list_mails_to(NEW)) == 1


def test_mails_of_earlier_addresses_are_not_sent_to_the_last_one(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    assert list_mails_to(OLD)
    for number in range(5):
        data(correct(owner, application, email=f"guess{number}@stalls.example"))
    data(correct(owner, application, email=NEW))
    assert len(list_mails_to(NEW)) == 1 and list_mails_to("guess0@stalls.example") == []


def test_links_that_are_not_due_any_more_end_too(client: Client, owner: Client) -> None:
    application = create_application(client, owner, email=OLD)
    decide_application(owner, application, documentsRequired=[])
    old_token = find_mailed_token("pay", OLD)
    data(owner.post(f"{LIST}/{application['id']}/fee/waive", {"reason": "a school"}))
    assert client.get(f"{LIST}/pay/{old_token}").status_code == 200
    data(correct(owner, application, email=NEW))
    assert client.get(f"{LIST}/pay/{old_token}").status_code == 410
