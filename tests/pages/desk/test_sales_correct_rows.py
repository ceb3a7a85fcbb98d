"""Importing the correct rows of a file of sales at the desk, and its corrected file afterwards."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.db import db
from app.core.outbox.executor import run_due_jobs
from app.events.actions import import_ticket_file, ticket_uploads
from tests.events.law import assert_books_agree
from tests.events.test_import import TYPES, stats
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.desk.test_events import EVENTS, WRITERS, open_as
from tests.pages.desk.test_sales import HEADER, ROWS, count_rows, post, upload
from tests.pages.desk.test_stalls import ROLES
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner
from tests.races import run_concurrently

BAD = "A3,Weekend pass,Selma,nobody,850,2026-10-03,sold,three\n"
CORRECTED = BAD.replace("nobody", "s@example.com")
BUTTON = "Import the correct rows"
LEFT_OUT = "<dt>Rows with problems, left out</dt><dd>1</dd>"


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_published_event(organiser, name="Windhoek Lights", ticketTypes=TYPES)


@pytest.fixture
def path(event: dict[str, Any]) -> str:
    return f"{EVENTS}/{event['id']}/sales"


def import_correct_rows(desk: Visitor) -> str:
    """Press the button on the open page, and return the text of the next one."""
    form = next(form for form in desk.forms if "onlyCorrect" in form.fields)
    return desk._went("POST", form.action, data=form.fields, follow_redirects=True).text


def start_import(visitor: Visitor, desk: Visitor) -> int:
    """Start the import of the upload on the open page of the desk as somebody else, and return the status."""
    visitor.open(EVENTS)
    token = next(form.fields["csrf_token"] for form in visitor.forms if "csrf_token" in form.fields)
    fields = {"csrf_token": token, "onlyCorrect": "true"}
    return visitor.flask.post(f"{desk.page.request.path}/import", data=fields).status_code


def test_correct_rows_are_imported_and_then_the_rest_of_the_corrected_file(
    organiser: Client, event: dict[str, Any], desk: Visitor, path: str
) -> None:
    page = upload(desk, path, HEADER + ROWS + BAD).text
    assert "Nothing is imported yet: some rows have problems." in page and "upload the file again" in page
    assert "<dt>New</dt><dd>2</dd>" in page and LEFT_OUT in page and "1 problem in 1 row<" in page
    assert "Import the tickets" not in page and count_rows("ticket") == 0
    page = import_correct_rows(desk)
    assert "The tickets are imported" in page and LEFT_OUT in page and "nobody" in page
    assert "upload the whole file again" in page and BUTTON not in page and count_rows("ticket") == 2
    page = upload(desk, path, HEADER + ROWS + BAD).text
    assert "The correct rows change nothing." in page and BUTTON not in page
    page = upload(desk, path, HEADER + ROWS + CORRECTED).text
    assert "<dt>New</dt><dd>1</dd>" in page and "<dt>Unchanged</dt><dd>2</dd>" in page
    post(desk, f"{desk.page.request.path}/import")
    assert count_rows("ticket") == 3 and stats(organiser, event)["totals"]["sold"] == 3
    assert_books_agree()


def test_an_import_of_correct_rows_is_undone(desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS + BAD)
    import_correct_rows(desk)
    import_id = db.session.scalar(text("SELECT id FROM ticket_import"))
    desk.open(f"{path}/imports/{import_id}/undo")
    assert "New tickets that go: 2" in desk.page.text
    assert "The import is undone." in desk.send(form=-1).text and count_rows("ticket") == 0
    assert_books_agree()


@pytest.mark.parametrize(
    "content",
    [
        HEADER + BAD + BAD.replace("A3", "A4"),
        "reference,ticketType,Name,name\nA1,Weekend pass,Tuli,Selma\n",
        HEADER + ROWS.replace("Weekend pass", "Backstage"),
    ],
    ids=["all rows wrong", "header", "unknown types"],
)
def test_a_file_without_correct_rows_offers_no_import(desk: Visitor, path: str, content: str) -> None:
    assert BUTTON not in upload(desk, path, content).text
    page = post(desk, f"{desk.page.request.path}/import", onlyCorrect="true").text
    assert "The tickets are imported" not in page and count_rows("ticket") == count_rows("ticket_import") == 0


def test_without_the_choice_nothing_is_imported(desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS + BAD)
    address = desk.page.request.path
    for fields in ({}, {"onlyCorrect": "false"}, {"onlyCorrect": "nonsense"}):
        page = post(desk, f"{address}/import", **fields).text
        assert "cannot be imported like this" in page and count_rows("ticket") == 0
    page = post(desk, f"{address}/check").text
    assert BUTTON in page and "The tickets are imported" in import_correct_rows(desk)


def test_problems_and_unknown_ticket_types_are_on_one_page(desk: Visitor, path: str) -> None:
    page = upload(desk, path, HEADER + ROWS.replace("A2,Weekend pass", "A2,Parking") + BAD).text
    assert "Ticket types that the event does not have" in page and BUTTON in page
    assert "1 problem<" in page and "The event has no such ticket type." not in page
    page = post(desk, f"{desk.page.request.path}/check", name="Parking", type="new").text
    assert "<dt>New ticket types</dt><dd>1 <span" in page and LEFT_OUT in page
    import_correct_rows(desk)
    assert count_rows("ticket") == 2


def test_many_tickets_of_unknown_types_are_no_listed_problems(
    desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_ticket_file, "MAX_RETURNED_ERRORS", 2)
    page = upload(desk, path, HEADER + BAD + ROWS.replace("Weekend pass", "Parking")).text
    assert "1 problem<" in page and " more." not in page and BUTTON not in page


def test_tickets_of_a_type_that_is_not_chosen_are_left_out_and_listed(desk: Visitor, path: str) -> None:
    page = upload(desk, path, HEADER + ROWS.replace("A2,Weekend pass", "A2,Parking")).text
    assert BUTTON in page and "problem<" not in page
    page = import_correct_rows(desk)
    assert "The event has no such ticket type." in page and "Parking" in page and count_rows("ticket") == 1


def test_more_tickets_than_places_need_their_own_click_first(
    organiser: Client, desk: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_ticket_file, "MAX_RETURNED_ERRORS", 1)
    event = create_published_event(organiser, ticketTypes=[{"name": "Weekend pass", "priceMinor": 1, "quantity": 1}])
    page = upload(desk, f"{EVENTS}/{event['id']}/sales", HEADER + BAD + ROWS).text
    assert "Raise the numbers" in page and BUTTON not in page
    assert BUTTON in post(desk, f"{desk.page.request.path}/check", allowOversell="true").text
    import_correct_rows(desk)
    assert count_rows("ticket") == 2
    assert_books_agree()


def test_a_large_file_is_left_to_a_worker(desk: Visitor, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_uploads, "MAX_SYNC_ROWS", 1)
    upload(desk, path, HEADER + ROWS + BAD)
    address = desk.page.request.path
    run_due_jobs(worker="test")
    assert BUTTON in desk.open(address).text
    assert "Importing the tickets" in import_correct_rows(desk)
    post(desk, f"{address}/import", onlyCorrect="true")
    assert count_rows("outbox WHERE kind = 'events.import_upload' AND state = 'ready'") == 1
    run_due_jobs(worker="test")
    page = desk.open(address).text
    assert "The tickets are imported" in page and LEFT_OUT in page and count_rows("ticket") == 2
    assert_books_agree()


def test_two_starts_at_once_import_once(desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS + BAD)
    form = next(form for form in desk.forms if "onlyCorrect" in form.fields)
    cookies = desk.flask._cookies

    def start(_: int) -> int:
        client = desk.flask.application.test_client()
        client._cookies = {**cookies}
        return client.post(form.action, data=form.fields).status_code

    assert run_concurrently(3, start) == [303, 303, 303]
    assert count_rows("ticket") == 2 and count_rows("ticket_import") == 1
    assert "The tickets are imported" in desk.open(form.action.removesuffix("/import")).text
    assert_books_agree()


@pytest.mark.parametrize("role", [role for role in ROLES if role != "owner"])
def test_other_people_of_the_organisation_import_no_rows(
    app: Flask, client: Client, owner: Account, desk: Visitor, path: str, role: str
) -> None:
    upload(desk, path, HEADER + ROWS + BAD)
    visitor = open_as(app, client, owner, role)
    assert start_import(visitor, desk) == (404 if role in WRITERS else 403) and count_rows("ticket") == 0


def test_other_organisations_import_no_rows(app: Flask, desk: Visitor, path: str) -> None:
    upload(desk, path, HEADER + ROWS + BAD)
    assert start_import(sign_in_browser(app, create_owner("Other")), desk) == 404 and count_rows("ticket") == 0
