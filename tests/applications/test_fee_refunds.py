"""Refunds of stall fees: by the rail or recorded, once, and booked."""

from typing import Any

import pytest
from flask import Flask

from app.applications.actions import fee_refunds
from app.applications.commands import resolve_payment
from app.applications.fee_refunds import refuse_refund
from app.applications.models import Application
from app.clients.payrail import ChargeState, Outcome
from app.clients.payrail.http_rail import HttpRail
from app.core.transaction import transaction
from tests.factories.accounts import create_account, list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    TRANSFER_DAY,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar, run_all_jobs
from tests.factories.stall_payments import list_open_reviews, run_recurring, send_callback
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.teams.test_members import accept, invite

FEE = 250000
TRANSFER = {"amountMinor": FEE, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def approved(client: Client, owner: Client) -> dict[str, Any]:
    return create_approved_application(client, owner, documentsRequired=[])


@pytest.fixture
def paid(client: Client, approved: dict[str, Any]) -> dict[str, Any]:
    pay_stall_fee(client, find_mailed_token("pay"))
    return approved


@pytest.fixture
def received(owner: Client, approved: dict[str, Any]) -> dict[str, Any]:
    data(owner.post(f"{LIST}/{approved['id']}/fee/received", TRANSFER))
    return approved


def refund(owner: Client, application: dict[str, Any], **fields: Any) -> Any:
    return owner.post(f"{LIST}/{application['id']}/fee/refund", {"reason": "They fell ill", **fields})


def read_payment(owner: Client, application: dict[str, Any]) -> dict[str, Any]:
    return dict(data(owner.get(f"{LIST}/{application['id']}"))["payment"])


def sum_account(account: str) -> int:
    return int(
        fetch_scalar("SELECT coalesce(sum(amount_minor), 0) FROM ledger_entry WHERE account = :name", name=account)
    )


def test_a_paid_fee_goes_back_by_the_rail(client: Client, owner: Client, paid: dict[str, Any]) -> None:
    token = find_mailed_token("pay")
    assert data(refund(owner, paid))["payment"]["refund"]["status"] == "requested"
    run_all_jobs()
    shown = read_payment(owner, paid)
    assert shown["status"] == "refunded"
    assert shown["refund"].pop("creditNoteNumber").startswith("CN-STL-")
    assert shown["refund"] == {"status": "refunded", "method": "rail", "amountMinor": FEE, "reference": None}
    assert data(client.get(f"{LIST}/pay/{token}"))["status"] == "refunded"
    assert (sum_account("organisation"), sum_account("rail_clearing")) == (0, 0)
    (mail,) = (mail for mail in list_mails_to(EMAIL) if "refunded" in mail["subject"])
    assert "mobile wallet" in mail["text"] and "4567" in mail["text"]
    assert data(refund(owner, paid))["payment"]["refund"]["status"] == "refunded"
    assert list_open_reviews() == []
    assert_ledger_integrity()


def test_a_received_fee_is_recorded_as_sent_back(owner: Client, received: dict[str, Any]) -> None:
    body = {"amountMinor": 100000, "reference": "RF-1"}
    shown = data(refund(owner, received, **body))["payment"]
    assert data(refund(owner, received, **body))["payment"]["refund"] == shown["refund"]
    assert shown["refund"].pop("creditNoteNumber").startswith("CN-STL-")
    assert shown["refund"] == {"status": "refunded", "method": "transfer", "amountMinor": 100000, "reference": "RF-1"}
    assert shown["status"] == "paid"
    other = refund(owner, received)
    assert read_error(other) == (409, "FEE_REFUNDED") and other.get_json()["data"]["amountMinor"] == 100000
    assert sum_account("organisation") == FEE - 100000
    (mail,) = (mail for mail in list_mails_to(EMAIL) if "refunded" in mail["subject"])
    assert "1 000.00" in mail["subject"].replace("\u202f", " ") and "RF-1" in mail["text"]
    assert_ledger_integrity()


def test_a_part_by_the_rail_and_more_than_the_fee_are_refused(owner: Client, paid: dict[str, Any]) -> None:
    for amount, code in ((1, "whole_fee"), (FEE + 1, "too_large")):
        answer = refund(owner, paid, amountMinor=amount)
        assert read_error(answer) == (422, "VALIDATION_FAILED")
        assert answer.get_json()["data"]["errors"][0]["code"] == code
        assert "reference" not in answer.get_json()["data"]["errors"][0]["message"]


def test_a_reference_before_the_rail_has_refused_is_refused(owner: Client, paid: dict[str, Any]) -> None:
    for fields in ({}, {"amountMinor": 1}):
        answer = refund(owner, paid, reference="RF-1", **fields)
        assert read_error(answer) == (422, "VALIDATION_FAILED")
        (error,) = answer.get_json()["data"]["errors"]
        assert (error["path"], error["code"]) == ("reference", "paid_by_rail")
    assert read_payment(owner, paid)["refund"] is None
    data(refund(owner, paid))
    run_all_jobs()
    assert read_payment(owner, paid)["refund"]["method"] == "rail" and sum_account("organisation") == 0


def test_without_money_there_is_nothing_to_refund(owner: Client, approved: dict[str, Any]) -> None:
    assert read_error(refund(owner, approved)) == (409, "NOTHING_TO_REFUND")
    data(owner.post(f"{LIST}/{approved['id']}/fee/waive", {"reason": "a school"}))
    assert read_error(refund(owner, approved)) == (409, "NOTHING_TO_REFUND")


def test_an_unknown_outcome_is_asked_again(
    owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
        data(refund(owner, paid))
        run_all_jobs()
    assert read_payment(owner, paid)["refund"]["status"] == "requested"
    assert read_error(refund(owner, paid, reference="RF-1")) == (409, "FEE_REFUNDED")
    execute_sql("UPDATE outbox SET state = 'dead', done_at = now() WHERE kind = 'applications.refund_fee'")
    run_recurring("applications.watch_payments")
    run_all_jobs()
    assert read_payment(owner, paid)["refund"]["status"] == "refunded"
    assert sum_account("organisation") == 0


def test_a_refund_without_an_outcome_for_three_days_gets_a_review(
    owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
    data(refund(owner, paid))
    execute_sql("UPDATE stall_fee_refund SET recorded_at = now() - interval '73 hours'")
    run_all_jobs()
    assert [kind for kind, _ in list_open_reviews()] == ["no_outcome"]


@pytest.mark.parametrize(("outcome", "status"), [("refunded", "refunded"), ("not-taken", "refused")])
def test_an_operator_ends_a_refund_without_an_outcome(
    owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch, outcome: str, status: str
) -> None:
    monkeypatch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
    data(refund(owner, paid))
    execute_sql("UPDATE stall_fee_refund SET recorded_at = now() - interval '73 hours'")
    run_all_jobs()
    ((_, payment_id),) = list_open_reviews()
    resolve_payment(payment_id, outcome, "asked the rail by telephone")
    assert read_payment(owner, paid)["refund"]["status"] == status and list_open_reviews() == []
    assert sum_account("organisation") == (0 if status == "refunded" else FEE)
    assert_ledger_integrity()


def test_a_refund_that_the_rail_refuses_is_sent_by_transfer(
    owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.PAID))
    data(refund(owner, paid))
    run_all_jobs()
    assert read_payment(owner, paid)["refund"]["status"] == "refused"
    assert sum_account("organisation") == FEE
    recorded = data(refund(owner, paid, amountMinor=FEE - 1, reference="RF-1"))["payment"]["refund"]
    assert (recorded["status"], recorded["method"]) == ("refunded", "transfer")
    assert data(refund(owner, paid, amountMinor=FEE - 1, reference="RF-1"))["payment"]["refund"] == recorded
    assert sum_account("organisation") == 1
    assert_ledger_integrity()


def test_a_refused_refund_is_mailed_to_those_who_may_refund(
    client: Client, owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = {"owner": data(owner.get("/api/auth/me"))["email"], "admin": create_account("admin").email}
    other_event = create_event(owner)["id"]
    for role, event_ids in (("finance", None), ("manager", [other_event]), ("viewer", None)):
        member = create_account()
        addresses[role] = member.email
        invite(owner, member.email, role, **({"eventIds": event_ids} if event_ids else {}))
        accept(client, member)
    monkeypatch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.PAID))
    data(refund(owner, paid))
    run_all_jobs()
    run_recurring("applications.watch_payments")
    run_all_jobs()
    assert read_payment(owner, paid)["refund"]["status"] == "refused"
    mails = {
        role: [mail for mail in list_mails_to(address) if "did not go through" in mail["subject"]]
        for role, address in addresses.items()
    }
    assert {role: len(sent) for role, sent in mails.items()} == {
        "owner": 1,
        "admin": 0,
        "finance": 1,
        "manager": 0,
        "viewer": 0,
    }
    assert paid["reference"] in mails["finance"][0]["text"]
    assert [mail for mail in list_mails_to(EMAIL) if "refund" in mail["subject"]] == []


def test_a_refusal_is_not_mailed_once_the_money_is_back(
    owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
    data(refund(owner, paid))
    with transaction() as session:
        refuse_refund(session, session.get_one(Application, paid["id"], with_for_update=True))
    data(refund(owner, paid, reference="RF-1"))
    run_all_jobs()
    address = data(owner.get("/api/auth/me"))["email"]
    assert [mail for mail in list_mails_to(address) if "did not go through" in mail["subject"]] == []


def test_a_callback_about_a_requested_refund_is_no_contradiction(
    client: Client, owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch, app: Flask
) -> None:
    payment_id = fetch_scalar("SELECT id FROM stall_payment")
    secret = app.extensions["settings"].PAYRAIL_SECRET
    with monkeypatch.context() as patch:
        patch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
        data(refund(owner, paid))
        run_all_jobs()
    assert send_callback(client, payment_id, "refunded", secret=secret).status_code == 200
    run_all_jobs()
    assert list_open_reviews() == []


def test_a_refunded_application_can_be_declined_and_not_approved_again(owner: Client, received: dict[str, Any]) -> None:
    path, refusal = f"{LIST}/{received['id']}", {"decision": "declined", "reason": "They fell ill"}
    assert read_error(owner.patch(path, refusal)) == (409, "ALREADY_DECIDED")
    data(refund(owner, received))
    assert data(owner.patch(path, refusal))["status"] == "declined"
    again = owner.patch(path, {"decision": "submitted", "reason": "A mistake"})
    assert read_error(again) == (409, "ALREADY_DECIDED")
    assert_ledger_integrity()


def test_of_64_refunds_one_is_made(owner: Client, paid: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = HttpRail.refund_charge
    monkeypatch.setattr(HttpRail, "refund_charge", lambda rail, id: asked.append(id) or ask(rail, id))
    for _ in range(4):
        answers = run_concurrently(16, lambda _: refund(owner, paid).status_code)
        assert set(answers) == {200}
    run_all_jobs()
    assert len(asked) == 1 and sum_account("organisation") == 0
    assert_ledger_integrity()


def test_of_many_recorded_refunds_one_is_booked(owner: Client, received: dict[str, Any]) -> None:
    assert set(run_concurrently(16, lambda _: refund(owner, received).status_code)) == {200}
    assert sum_account("organisation") == 0 and fetch_scalar("SELECT count(*) FROM stall_fee_refund") == 1


@pytest.mark.control
def test_without_the_lock_refunds_collide(
    owner: Client, received: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        fee_refunds, "lock_application", lambda session, caller, id, permission: session.get(Application, id)
    )
    assert set(run_concurrently(16, lambda _: refund(owner, received).status_code)) != {200}


def test_a_transfer_is_received_and_refunded_at_once(app: Flask, client: Client, owner: Client) -> None:
    for number in range(4):
        application = create_application(client, owner, email=f"stall{number}@example.com")
        decide_application(owner, application, documentsRequired=[])
        calls = (
            lambda made=application: owner.post(f"{LIST}/{made['id']}/fee/received", TRANSFER),
            lambda made=application: refund(owner, made),
        )
        received, refunded = run_concurrently(2, lambda at, calls=calls: calls[at]().status_code)
        assert received == 200 and refunded in (200, 409)
        assert fetch_scalar(
            "SELECT count(*) FROM stall_fee_refund WHERE application_id = :id", id=application["id"]
        ) == (refunded == 200)
    assert_ledger_integrity()
