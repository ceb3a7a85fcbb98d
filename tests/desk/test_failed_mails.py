"""Mails to applicants, guests and holders that fail: recorded once, shown to those who write, and taken off the list."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.blueprints.pages.desk.message_words import MAIL_LABELS
from app.core.db import db
from app.core.jobs import list_jobs
from app.desk.failed_mails import MAIL_KINDS
from tests.clients.mails import configure
from tests.factories.accounts import create_account, run_jobs
from tests.factories.allocations import Block, create_block
from tests.factories.applications import LIST, create_application
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error
from tests.pages.test_account_page import sign_in_browser
from tests.smtp_sink import Sink, run_smtp_sink
from tests.teams.test_members import accept, invite

REFUSAL = "550 5.1.1 no such user"


@pytest.fixture
def sink(app: Flask) -> Iterator[Sink]:
    before = app.extensions["settings"]
    with run_smtp_sink() as sink:
        configure(app, SMTP_URL=sink.url)
        yield sink
    app.extensions["settings"] = before


@pytest.fixture
def block(client: Client) -> Block:
    return create_block(client, holder={"email": "tuli@bank.example", "name": "Tuli"})


def build_path(block: Block) -> str:
    return f"/api/events/{block.event['id']}/notifications/failed-mails"


def list_failed(block: Block, by: Client | None = None) -> list[dict[str, Any]]:
    mails: list[dict[str, Any]] = data((by or block.owner).get(build_path(block)))["mails"]
    return mails


def decide(client: Client, block: Block, email: str = "selma@kapana.example") -> dict[str, Any]:
    application = create_application(client, eventId=block.event["id"], email=email)
    run_jobs()
    data(block.owner.patch(f"{LIST}/{application['id']}", {"decision": "approved", "documentsRequired": []}))
    return application


def refuse_next(sink: Sink) -> None:
    sink.next(rcpt=REFUSAL)
    run_jobs()
    run_jobs()


def test_each_kind_of_mail_is_declared_and_has_a_label() -> None:
    declared = {job.kind for job in list_jobs() if job.ended == "desk.note_failed_mails"}
    assert declared == set(MAIL_KINDS) == set(MAIL_LABELS)


def test_a_refused_mail_is_listed_with_its_reason(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    application = decide(client, block)
    refuse_next(sink)
    (mail,) = list_failed(block)
    assert (mail["kind"], mail["applicationId"], mail["blockId"]) == ("applications.mail", application["id"], None)
    assert mail["address"] == "s•••@kapana.example" and "no such user" in mail["reason"]
    assert "PermanentAddressError" not in mail["reason"]
    block.invite("anna@example.com")
    refuse_next(sink)
    data(block.post("invoice/email", to="money@bank.example"), 202)
    refuse_next(sink)
    data(block.post("allocator-link", rotate=True, mail=True))
    refuse_next(sink)
    event_path = f"/api/events/{block.event['id']}"
    data(block.owner.post(f"{event_path}/merchant-invite", {"email": "meme@example.com"}), 201)
    refuse_next(sink)
    addresses = {mail["kind"]: (mail["address"], mail["blockId"]) for mail in list_failed(block)}
    assert addresses == {
        "applications.mail": ("s•••@kapana.example", None),
        "allocations.invite": ("a•••@example.com", block.id),
        "allocations.mail_invoice": ("m•••@bank.example", block.id),
        "allocations.mail_allocator_link": ("t•••@bank.example", block.id),
        "invitations.mail_link": ("m•••@example.com", None),
    }


def test_a_mail_whose_application_has_no_event_or_is_gone_is_left_out(
    client: Client,
    block: Block,
    sink: Sink,
) -> None:
    run_jobs()
    decide(client, block)
    sink.next(rcpt=REFUSAL)
    execute_sql("UPDATE merchant_application SET email = NULL")
    run_jobs()
    run_jobs()
    assert list_failed(block) == []


def test_list_is_cleared_up_to_what_was_seen(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    decide(client, block)
    refuse_next(sink)
    (first,) = list_failed(block)
    decide(client, block, "late@kapana.example")
    refuse_next(sink)
    path = build_path(block)
    assert list_problems(block.owner.delete(path)) == {"until": "required"}
    until = {"until": first["failedAt"]}
    assert data(block.owner.delete(path, query_string=until)) == {"cleared": 1}
    assert data(block.owner.delete(path, query_string=until)) == {"cleared": 0}
    assert [mail["address"] for mail in list_failed(block)] == ["l•••@kapana.example"]


def test_others_neither_see_nor_clear_it(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    decide(client, block)
    refuse_next(sink)
    stranger = create_organiser_client(client)
    until = {"until": "2099-01-01T00:00:00Z"}
    assert read_error(stranger.get(build_path(block))) == (404, "NOT_FOUND")
    assert read_error(stranger.delete(build_path(block), query_string=until)) == (404, "NOT_FOUND")
    for role, may_read, may_clear in (("viewer", True, False), ("door", False, False), ("messages", True, True)):
        account = create_account()
        invite(block.owner, account.email, role)
        run_jobs()
        member = accept(client, account)
        assert member.get(build_path(block)).status_code == (200 if may_read else 403), role
        assert member.delete(build_path(block), query_string=until).status_code == (200 if may_clear else 403), role
    assert fetch_scalar("SELECT count(*) FROM failed_mail") == 0


def test_desk_leads_from_the_task_to_the_application(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    application = decide(client, block)
    refuse_next(sink)
    owner = db.session.get_one(Account, block.event["organiserId"])
    desk = sign_in_browser(client.flask.application, owner)
    event_path = f"/desk/events/{block.event['id']}"
    assert "1 mail failed" in desk.open("/desk").text
    page = desk.open(f"{event_path}/messages/failed-mails")
    assert "selma@kapana.example" in page.text and "About the application" in page.text
    assert f"{event_path}/stalls/{application['id']}" in page.text
    page = desk.open(f"{event_path}/stalls/{application['id']}")
    assert "A mail to selma@kapana.example failed on" in page.text and "no such user" in page.text
    block_page = desk.open(f"{event_path}/guests/{block.id}")
    assert "failed on" not in block_page.text
    data(block.post("allocator-link", rotate=True, mail=True))
    refuse_next(sink)
    assert "A mail to tuli@bank.example failed on" in desk.open(f"{event_path}/guests/{block.id}").text
    desk.open(f"{event_path}/messages/failed-mails")
    (link,) = re.findall(r'href="([^"]*/failed-mails/clear[^"]*)"', desk.page.text)
    assert "The mails that you saw are taken off the list." in desk.open(link).text
    assert "Taken off the list: 2 mails." in desk.send(form=1).text
    assert "There are none now." in desk.page.text and "mail failed" not in desk.open("/desk").text
    for until in ("", "?until=x", "?until=%00"):
        assert desk.open(f"{event_path}/messages/failed-mails/clear{until}").status_code == 404, until
    block.change(holder={"email": "new@bank.example"})
    assert "failed on" not in desk.open(f"{event_path}/guests/{block.id}").text
