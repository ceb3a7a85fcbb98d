"""Files at the desk: who sees which, the progress, the download and the deletion."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.outbox.executor import run_due_jobs
from app.files.actions import request_file
from tests.counting import count_statements
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.files.sample import SAMPLE, register_sample
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner

FILES = "/desk/files"
READERS, ROLES = ("owner", "manager", "finance"), ("owner", "manager", "finance", "door", "stock", "messages", "viewer")


@pytest.fixture(autouse=True)
def sample(app: Flask) -> Iterator[None]:
    with register_sample():
        yield


@pytest.fixture
def event(organiser: Client) -> dict[str, Any]:
    return create_event(organiser, name="Windhoek Lights")


def request(owner: Account, event: dict[str, Any] | None = None, **parameters: Any) -> str:
    return request_file(
        build_caller(owner),
        SAMPLE,
        organisation_id=owner.id,
        event_id=event["id"] if event else None,
        parameters=parameters,
    )


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_what_it_may_do(
    app: Flask, client: Client, owner: Account, event: dict[str, Any], role: str
) -> None:
    file_id = request(owner, event)
    run_due_jobs(worker="test")
    visitor = open_as(app, client, owner, role)
    page = visitor.open(FILES)
    assert page.status_code == 200 and ("Sample" in page.text) == (role in READERS)
    assert ("Delete" in page.text) == (role in ("owner", "manager"))
    for path in ("", "/download"):
        status = visitor.open(f"{FILES}/{file_id}{path}").status_code
        assert status == (200 if role in READERS else 404), path
    status = visitor.open(f"{FILES}/{file_id}/delete").status_code
    assert status == (200 if role in ("owner", "manager") else 404)
    if role not in ("owner", "manager"):
        visitor.open("/desk")
        token = visitor.forms[0].fields["csrf_token"]
        answer = visitor.flask.post(f"{FILES}/{file_id}/delete", data={"csrf_token": token})
        assert answer.status_code == 404 and fetch_scalar("SELECT count(*) FROM organisation_file") == 1


def test_a_member_of_one_event_sees_its_files(app: Flask, client: Client, owner: Account, organiser: Client) -> None:
    mine, other = create_event(organiser, name="River Nights"), create_event(organiser, name="Desert Days")
    own_file, other_file, whole_file = request(owner, mine), request(owner, other), request(owner)
    visitor = open_as(app, client, owner, "finance", eventIds=[mine["id"]])
    page = visitor.open(FILES).text
    assert "River Nights" in page and "Desert Days" not in page and "1 file " in page
    assert visitor.open(f"{FILES}/{own_file}").status_code == 200
    assert [visitor.open(f"{FILES}/{file}").status_code for file in (other_file, whole_file)] == [404, 404]


def test_files_of_others_are_not_there(app: Flask, owner: Account, event: dict[str, Any]) -> None:
    file_id = request(owner, event)
    run_due_jobs(worker="test")
    stranger = sign_in_browser(app, create_owner("Other"))
    assert "Sample" not in stranger.open(FILES).text
    for path in (file_id, f"{file_id}/download", f"{file_id}/delete", "nothing", "nothing/download", "f" * 24):
        assert stranger.open(f"{FILES}/{path}").status_code == 404, path


def test_progress_download_and_deletion(desk: Visitor, owner: Account, event: dict[str, Any]) -> None:
    assert "appear here, and stay for seven days" in desk.open(FILES).text
    file_id = request(owner, event, word="river", failures=1)
    run_due_jobs(worker="test")
    for path in (FILES, f"{FILES}/{file_id}"):
        page = desk.open(path).text
        assert 'value="50"' in page and 'data-refresh-seconds="2"' in page, path
    assert desk.open(f"{FILES}/{file_id}/download").status_code == 404
    execute_sql("UPDATE outbox SET run_at = now() WHERE state = 'ready'")
    run_due_jobs(worker="test")
    page = desk.open(f"{FILES}/{file_id}").text
    assert "sample.txt is ready" in page and "data-refresh-seconds" not in page
    answer = desk.open(f"{FILES}/{file_id}/download")
    assert answer.data == b"word: river" and answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Content-Disposition"] == "attachment; filename=sample.txt"
    assert "no-store" in answer.headers["Cache-Control"] and "sandbox" in answer.headers["Content-Security-Policy"]
    export = "SELECT count(*) FROM audit_entry WHERE action = 'exports.file' AND subject_id = :id AND event_id = :event"
    assert fetch_scalar(export, id=file_id, event=event["id"]) == 1
    page = desk.open(FILES).text
    assert "Ready" in page and owner.name in page and "Windhoek Lights" in page
    assert "Delete “Sample”?" in desk.open(f"{FILES}/{file_id}/delete").text
    assert "The file is deleted." in desk.send(form=1).text
    assert desk.open(f"{FILES}/{file_id}").status_code == 404


def test_a_failed_file_says_why(desk: Visitor, owner: Account) -> None:
    file_id = request(owner, refuse=True)
    run_due_jobs(worker="test")
    for path in (FILES, f"{FILES}/{file_id}"):
        page = desk.open(path).text
        assert "There is nothing in this period." in page and "Download</a>" not in page


def test_reports_of_the_stock_are_here_too(
    app: Flask, client: Client, owner: Account, organiser: Client, event: dict[str, Any]
) -> None:
    data(organiser.get(f"/api/events/{event['id']}/inventory/reports?format=pdf"), 202)
    visitor = sign_in_browser(app, owner)
    page = visitor.open(FILES).text
    assert "Stock report" in page and "Waiting" in page
    run_due_jobs(worker="test")
    page = visitor.open(FILES).text
    path = page.split(f'href="{FILES}/stock/')[1].split('"')[0]
    assert visitor.open(f"{FILES}/stock/{path}").data.startswith(b"%PDF")
    messenger = open_as(app, client, owner, "messages")
    assert "Stock report" not in messenger.open(FILES).text
    assert messenger.open(f"{FILES}/stock/{path}").status_code == 403


def test_the_list_takes_few_statements(desk: Visitor, owner: Account, event: dict[str, Any]) -> None:
    for word in ("a", "b", "c"):
        request(owner, event, word=word)
    _, statements = count_statements(lambda: desk.flask.get(FILES))
    assert len(statements) == 4, statements
