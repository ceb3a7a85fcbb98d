"""Saving an application form and going on with it by the mailed link."""

import re
from typing import Any

import pytest
from sqlalchemy import text

from app.applications.actions import drafts, save_draft
from app.core.errors import Throttled
from app.core.throttle import ThrottleStatus
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import EMAIL, LIST
from tests.factories.events import create_published_event
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_apply_page import TYPED, TYPES
from tests.races import run_concurrently
from tests.retention.test_guests import erase


@pytest.fixture
def owner(client: Client) -> Client:
    return create_signed_in_client(client, create_account("organiser", email="office@lights.example"))


def save(owner: Client, visitor: Visitor, **typed: str) -> str:
    """The path in the mail of a saved form."""
    event = create_published_event(owner, name="Windhoek Lights", stallTypes=TYPES)
    visitor.open(f"/apply/{event['id']}")
    page = visitor.send(**{"email": EMAIL, "later": "1", **typed})
    assert "<h1>Your form is saved</h1>" in page.text and "t•••@kapana-corner.example" in page.text
    return find_path()


def find_path() -> str:
    match = re.search(r"/(?:apply|merchant-invite)/\w\S+\?draft=\S+", list_mails_to(EMAIL)[0]["text"])
    assert match
    return match[0]


def execute(statement: str) -> Any:
    with transaction() as session:
        return session.execute(text(statement))


def count_drafts() -> int:
    return int(execute("SELECT count(*) FROM application_draft").scalar_one())


def test_form_is_kept_as_typed_and_goes_on_by_the_link(owner: Client, visitor: Visitor) -> None:
    path = save(
        owner, visitor, businessName="Kapana <Corner>", phone="12", website="\0x", description="", destination="bank"
    )
    (mail,) = list_mails_to(EMAIL)
    assert mail["subject"] == "Windhoek Lights: go on with your application" and "Kapana" not in mail["text"]
    assert data(owner.get(LIST))["applications"] == []
    visitor.flask.delete_cookie("console")
    visitor.open(path)
    fields = visitor.forms[0].fields
    assert (fields["businessName"], fields["phone"], fields["email"]) == ("Kapana <Corner>", "12", EMAIL)
    assert fields["website"] == "x" and 'value="bank" checked' in visitor.page.text
    page = visitor.send(**TYPED)
    assert "We have your application" in page.text and count_drafts() == 0
    page = visitor.open(path)
    assert page.status_code == 200 and "The saved form is no longer here" in page.text
    assert visitor.forms[0].fields["businessName"] == ""


def test_form_of_an_invitation_is_kept_with_its_terms(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner, name="Windhoek Lights")
    terms = {"email": EMAIL, "stallType": "Food", "feeMinor": 700}
    slug = data(owner.post(f"/api/events/{event['id']}/merchant-invite", terms), 201)["slug"]
    visitor.open(f"/merchant-invite/{slug}")
    visitor.send(contactName="Tuli", later="1")
    visitor.open(find_path())
    assert visitor.page.request.path == f"/merchant-invite/{slug}"
    assert visitor.forms[0].fields["contactName"] == "Tuli"
    visitor.send(contactName="Tuli Hamutenya", businessName="Kapana Corner", destination="bank")
    assert data(owner.get(LIST))["applications"][0]["amountMinor"] == 700 and count_drafts() == 0


def test_saving_needs_an_address(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner)
    visitor.open(f"/apply/{event['id']}")
    page = visitor.send(businessName="Kapana Corner", email="nobody", later="1")
    assert page.status_code == 422 and "Enter an e-mail address like name@example.com." in page.text
    assert "Enter your name." not in page.text and visitor.forms[0].fields["businessName"] == "Kapana Corner"
    assert count_drafts() == 0


def test_saving_again_by_the_link_sends_no_second_one(owner: Client, visitor: Visitor) -> None:
    visitor.open(save(owner, visitor, contactName="Tuli"))
    page = visitor.send(contactName="Tuli Hamutenya", later="1")
    assert "The link in your e-mail works with what you have typed now." in page.text
    visitor.open(find_path())
    assert visitor.forms[0].fields["contactName"] == "Tuli Hamutenya"
    assert len(list_mails_to(EMAIL)) == 1 and count_drafts() == 1


def test_stranger_cannot_fill_a_mailbox_with_links(owner: Client, visitor: Visitor) -> None:
    path = save(owner, visitor)
    visitor.open(path.partition("?")[0])
    page = visitor.send(email=EMAIL, contactName="Tuli", later="1")
    assert page.status_code == 429 and "Go on with that link, or send the application now." in page.text
    assert visitor.forms[0].fields["contactName"] == "Tuli"
    assert len(list_mails_to(EMAIL)) == 1 and count_drafts() == 1


def test_link_opens_no_draft_of_another_event_and_no_changed_one(owner: Client, visitor: Visitor) -> None:
    path = save(owner, visitor, contactName="Tuli")
    other = create_published_event(owner)
    token = path.partition("=")[2]
    for wrong in (f"/apply/{other['id']}?draft={token}", path[:-1], f"{path}A", path.partition("=")[0] + "=%00x"):
        page = visitor.open(wrong)
        assert page.status_code == 200 and "The saved form is no longer here" in page.text and "Tuli" not in page.text


def test_drafts_expire(owner: Client, visitor: Visitor) -> None:
    path = save(owner, visitor, contactName="Tuli")
    erase()
    assert count_drafts() == 1
    row = execute("SELECT expires_at - now() > interval '29 days' FROM application_draft").scalar_one()
    assert row is True
    execute("UPDATE application_draft SET expires_at = now()")
    assert "Tuli" not in visitor.open(path).text
    erase()
    assert count_drafts() == 0


def test_queued_link_of_a_sent_form_is_not_mailed(owner: Client, visitor: Visitor) -> None:
    event = create_published_event(owner)
    save_draft(event_id=event["id"], email=EMAIL, form_values={})
    execute("DELETE FROM application_draft")
    assert list_mails_to(EMAIL) == []


def save_at_once(client: Client, owner: Client) -> int:
    """How many of 24 requests at the same time had a link mailed to one address."""
    event_id = create_published_event(owner)["id"]

    def act(_: int) -> bool:
        with client.flask.application.app_context():
            try:
                return save_draft(event_id=event_id, email=EMAIL, form_values={"contactName": "Tuli"})
            except Throttled:
                return False

    return run_concurrently(24, act).count(True)


def test_of_many_who_save_at_once_one_link_is_mailed(client: Client, owner: Client) -> None:
    assert save_at_once(client, owner) == 1
    assert len(list_mails_to(EMAIL)) == 1 and count_drafts() == 1


@pytest.mark.control
def test_without_the_limit_many_links_would_be_mailed(
    client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hit_nothing(session: Any, *subjects: Any) -> list[ThrottleStatus]:
        return [ThrottleStatus(rule, 1, 1) for rule, _ in subjects]

    monkeypatch.setattr(drafts.throttle, "hit_all", hit_nothing)
    assert save_at_once(client, owner) == 24
