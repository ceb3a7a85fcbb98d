"""Mails to applicants, guests and holders that fail: recorded once, shown to those who write, and taken off the list."""

from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.blueprints.pages.desk.message_words import MAIL_LABELS
from app.core.db import db
from app.core.jobs import list_jobs
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.desk.failed_mails import MAIL_KINDS
from tests.campaigns.test_sending import sink as sink
from tests.factories.accounts import create_account, run_jobs
from tests.factories.allocations import Block, create_block
from tests.factories.applications import LIST, TRANSFER_DAY, create_application
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error
from tests.pages.desk.test_events import open_as
from tests.pages.test_account_page import sign_in_browser
from tests.smtp_sink import Sink
from tests.teams.test_members import accept, invite

REFUSAL = "550 5.1.1 no such user"


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


def test_the_chosen_mails_are_taken_off_the_list(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    for name in ("first", "second"):
        decide(client, block, f"{name}@kapana.example")
        refuse_next(sink)
    second, first = list_failed(block)
    path = f"{build_path(block)}/clear"
    for wrong, problems in (({}, "required"), ({"ids": []}, "too_short"), ({"ids": "x"}, "invalid_type")):
        assert list_problems(block.owner.post(path, wrong)) == {"ids": problems}
    ids = {"ids": [first["id"], "0" * 24]}
    assert data(block.owner.post(path, ids)) == {"cleared": 1}
    assert data(block.owner.post(path, ids)) == {"cleared": 0}
    assert list_failed(block) == [second]


def test_odd_ends_of_jobs_spoil_no_others(block: Block) -> None:
    run_jobs()
    good: dict[str, Any] = {"kind": "allocations.mail_allocator_link", "payload": {"block_id": block.id}}
    ends = [
        {**good, "error": "Permanent: " + "x" * 5000},
        {**good, "error": "KeyError: 'internals'"},
        {**good, "error": "Transient: 451 later", "payload": {"block_id": ["x"]}},
        {**good, "error": "Transient: 451 later", "payload": {"slot_id": 7, "application_id": None}},
    ]
    with transaction():
        enqueue("desk.note_failed_mails", ends=ends)
    run_jobs()
    reasons = [mail["reason"] for mail in list_failed(block)]
    assert sorted(reasons) == ["The mail could not be handed over to a mail server.", "x" * 500]


def test_rows_of_a_deleted_event_are_deleted(block: Block) -> None:
    execute_sql(
        "INSERT INTO failed_mail (id, event_id, kind, address, reason) VALUES"
        " ('000000000000000000000001', 'ffffffffffffffffffffffff', 'allocations.invite', 'a@example.com', 'x'),"
        f" ('000000000000000000000002', '{block.event['id']}', 'allocations.invite', 'a@example.com', 'x')"
    )
    with transaction():
        enqueue("retention.erase")
    run_jobs()
    assert fetch_scalar("SELECT string_agg(id, ',') FROM failed_mail") == "000000000000000000000002"


def test_others_neither_see_nor_clear_it(client: Client, block: Block, sink: Sink) -> None:
    run_jobs()
    decide(client, block)
    refuse_next(sink)
    stranger, ids = create_organiser_client(client), {"ids": [list_failed(block)[0]["id"]]}
    path = f"{build_path(block)}/clear"
    assert read_error(stranger.get(build_path(block))) == (404, "NOT_FOUND")
    assert read_error(stranger.post(path, ids)) == (404, "NOT_FOUND")
    own_event = create_published_event(stranger)["id"]
    assert data(stranger.post(f"/api/events/{own_event}/notifications/failed-mails/clear", ids)) == {"cleared": 0}
    for role, may_read, may_clear in (("viewer", True, False), ("door", False, False), ("messages", True, True)):
        account = create_account()
        invite(block.owner, account.email, role)
        run_jobs()
        member = accept(client, account)
        assert member.get(build_path(block)).status_code == (200 if may_read else 403), role
        assert member.post(path, ids).status_code == (200 if may_clear else 403), role
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
    data(block.post("invoice/email", to="money@bank.example"), 202)
    refuse_next(sink)
    assert "A mail to money@bank.example failed on" in desk.open(f"{event_path}/guests/{block.id}/invoice").text
    list_path = f"{event_path}/messages/failed-mails"
    assert "Kapana Corner" in desk.open(f"{list_path}?sort=-failedAt&format=csv").text
    desk.open(list_path)
    chosen = [mail["id"] for mail in list_failed(block)][:2]
    assert "Choose the mails" in desk.open(desk.open(f"{list_path}/clear?id=x").location).text
    page = desk.open(f"{list_path}/clear?id={chosen[0]}&id={chosen[1]}&id=nonsense")
    assert "Take 2 mails off the list?" in page.text
    assert "Taken off the list: 2 mails." in desk.send(form=1).text
    assert "1 mail failed" in desk.open("/desk").text and len(list_failed(block)) == 1
    block.change(holder={"email": "new@bank.example"})
    assert "failed on" not in desk.open(f"{event_path}/guests/{block.id}").text


def test_the_page_of_an_invoice_says_that_a_receipt_failed(client: Client, sink: Sink) -> None:
    block = create_block(client, holder={"email": "tuli@bank.example", "name": "Tuli"}, unitPriceMinor=10000)
    data(block.post("invoice/email", to="money@bank.example"), 202)
    run_jobs()
    part = {"amountMinor": 1000, "reference": "EFT <b>1", "receivedOn": TRANSFER_DAY, "part": True}
    data(block.post("invoice/received", **part))
    refuse_next(sink)
    owner = db.session.get_one(Account, block.event["organiserId"])
    desk = sign_in_browser(client.flask.application, owner)
    path = f"/desk/events/{block.event['id']}/guests/{block.id}/invoice"
    page = desk.open(path).text
    assert "<strong>Payment of an invoice:</strong> A mail to tuli@bank.example failed on" in page
    data(block.post("invoice/email", to="money@bank.example"), 202)
    refuse_next(sink)
    data(block.post("invoice/received", **{**part, "reference": "EFT 2"}))
    refuse_next(sink)
    page = desk.open(path).text
    assert page.count("failed on") == 2 and "<strong>Invoice:</strong> A mail to money@bank.example" in page
    execute_sql("UPDATE failed_mail SET failed_at = now() - interval '31 days'")
    assert "failed on" not in desk.open(path).text


def test_who_may_not_open_applications_gets_no_phone_numbers(
    app: Flask, client: Client, block: Block, sink: Sink
) -> None:
    run_jobs()
    application = decide(client, block)
    refuse_next(sink)
    owner = db.session.get_one(Account, block.event["organiserId"])
    path = f"/desk/events/{block.event['id']}/messages/failed-mails"
    pages = {role: open_as(app, client, owner, role).open(path).text for role in ("manager", "messages")}
    link = f"/stalls/{application['id']}"
    assert "Phone" in pages["manager"] and link in pages["manager"]
    assert "selma@kapana.example" in pages["messages"]
    assert "Phone" not in pages["messages"] and link not in pages["messages"]
