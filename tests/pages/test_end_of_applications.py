"""The time until which people may apply for a stall at an event."""

from typing import Any

import pytest

from tests.blueprints.test_invited_applications import create_link
from tests.factories.applications import LIST, build_application_body, create_application, decide_application
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.http import Client, data, list_problems, read_error
from tests.pages.pages import Visitor

TYPES = [{"name": "Food", "feeMinor": 250000}]
ENDED, CLOSED = "2020-03-01T12:00:00", (409, "APPLICATIONS_CLOSED")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, name="Windhoek Lights", stallTypes=TYPES)


def apply(client: Client, event: dict[str, Any], **fields: Any) -> Any:
    return client.post(LIST, build_application_body(eventId=event["id"], **fields))


def test_nobody_applies_after_it(client: Client, owner: Client, event: dict[str, Any], visitor: Visitor) -> None:
    application = create_application(client, eventId=event["id"])
    update_event(owner, event, applicationsEndAt=ENDED)
    response = apply(client, event)
    assert read_error(response) == CLOSED and "no more applications" in response.get_json()["message"]
    page = visitor.open(f"/apply/{event['id']}")
    assert page.status_code == 410 and "<h1>Applications have ended</h1>" in page.text
    assert "This event is over" not in page.text and "If you were invited" in page.text
    assert "Apply for a stall" not in visitor.open(f"/e/{event['slug']}").text
    assert decide_application(owner, application)["decision"] == "approved", "who has applied goes on"


def test_a_form_that_was_open_is_refused(owner: Client, event: dict[str, Any], visitor: Visitor) -> None:
    visitor.open(f"/apply/{event['id']}")
    update_event(owner, event, applicationsEndAt=ENDED)
    assert visitor.send(businessName="Kapana Corner").status_code == 410
    assert data(owner.get(LIST))["applications"] == []


def test_a_form_that_arrived_before_is_confirmed(owner: Client, event: dict[str, Any], visitor: Visitor) -> None:
    visitor.open(f"/apply/{event['id']}")
    typed = {
        "businessName": "Kapana Corner",
        "contactName": "Ndapewa Iita",
        "email": "kapana@stalls.example",
        "stallType": "Food",
    }
    assert visitor.press(**typed).status_code == 303
    (application,) = data(owner.get(LIST))["applications"]
    update_event(owner, event, applicationsEndAt=ENDED)
    assert visitor.press(**typed, products="Fat cakes").status_code == 410, "another form is not that one"
    assert visitor.press(**{**typed, "formKey": ""}).status_code == 410
    page = visitor.send(**typed)
    assert page.status_code == 200 and application["reference"] in page.text
    assert len(data(owner.get(LIST))["applications"]) == 1


def test_an_invitation_can_be_used_after_it(client: Client, owner: Client, event: dict[str, Any]) -> None:
    slug = create_link(owner, event["id"])
    update_event(owner, event, applicationsEndAt=ENDED)
    assert apply(client, event, inviteSlug=slug).status_code == 201


def test_the_pages_say_until_when(client: Client, owner: Client, event: dict[str, Any], visitor: Visitor) -> None:
    update_event(owner, event, applicationsEndAt="2027-05-01")
    for path in (f"/e/{event['slug']}", f"/apply/{event['id']}"):
        page = visitor.open(path).text
        assert "1 May 2027" in page and "23:59" in page, path
    public = data(client.get(f"/api/events/public/{event['id']}"))
    assert public["applicationsEndAt"] == "2027-05-01T21:59:59.000Z"
    assert apply(client, event).status_code == 201


def test_it_can_be_taken_away(client: Client, owner: Client, event: dict[str, Any]) -> None:
    update_event(owner, event, applicationsEndAt=ENDED)
    assert apply(client, event).status_code == 409
    assert update_event(owner, event, applicationsEndAt=None)["applicationsEndAt"] is None
    assert apply(client, event).status_code == 201


def test_an_event_that_is_moved_before_it_is_refused(owner: Client, event: dict[str, Any]) -> None:
    update_event(owner, event, applicationsEndAt="2027-06-05T12:00:00")
    times = {"startDate": "2027-05-01T18:00:00", "endDate": "2027-05-02T18:00:00"}
    response = owner.patch(f"/api/events/{event['id']}", times)
    assert list(list_problems(response).values()) == ["contradiction"]
    assert "Send another applicationsEndAt too, or null." in response.get_json()["data"]["errors"][0]["message"]
    assert update_event(owner, event, **times, applicationsEndAt=None)["applicationsEndAt"] is None
