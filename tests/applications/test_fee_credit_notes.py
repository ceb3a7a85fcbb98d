"""Credit notes of refunded stall fees: one for each refund, with its own number, after the invoice that it corrects."""

import re
from base64 import b64decode

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.applications import fee_refunds
from app.applications.fee_credit_notes import issue_missing_credit_notes
from app.applications.payment_outcome import record_outcome
from app.clients.payrail import ChargeState, Outcome
from app.clients.payrail.http_rail import HttpRail
from app.core.transaction import transaction
from tests.allocations.documents import extract_text
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
from tests.factories.applications import EMAIL, LIST, create_approved_application, find_mailed_token, pay_stall_fee
from tests.factories.events import create_organiser_client
from tests.factories.organisations import VAT_NUMBER, register_for_vat
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar, run_all_jobs
from tests.http import Client, data, read_error
from tests.races import run_concurrently

TRANSFER = {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": "2026-11-20"}
PART = {"reason": "The rain came in", "amountMinor": 100000, "reference": "RF-1"}
COUNT = "SELECT count(*) FROM stall_fee_credit_note"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def receive_fee(client: Client, owner: Client) -> str:
    """The path of an application whose fee was received by transfer."""
    application = create_approved_application(client, owner, documentsRequired=[])
    path = f"{LIST}/{application['id']}"
    data(owner.post(f"{path}/fee/received", TRANSFER))
    return path


def read_attachment() -> tuple[str, str]:
    """Name and text of the PDF of the mail about the refund."""
    (mail,) = (mail for mail in list_mails_to(EMAIL) if "refunded" in mail["subject"])
    (attachment,) = mail["attachments"]
    assert attachment["name"].removesuffix(".pdf") in mail["text"]
    return attachment["name"], extract_text(b64decode(attachment["content"]))


def test_a_part_gives_a_tax_credit_note(client: Client, owner: Client) -> None:
    register_for_vat(owner)
    path = receive_fee(client, owner)
    shown = data(owner.post(f"{path}/fee/refund", PART))["payment"]["refund"]
    run_all_jobs()
    number = shown["creditNoteNumber"]
    assert re.fullmatch(r"CN-STL-\d{4}-00001", number)
    name, content = read_attachment()
    assert name == f"Tax credit note {number}.pdf"
    invoice_number = re.findall(r"STL-\d{4}-00001", extract_text(owner.get(f"{path}/invoice").data))[0]
    phrases = (
        f"{invoice_number} of",
        "The rain came in",
        f"VAT registration number {VAT_NUMBER}",
        "VAT 15 %",
        "Credited",
        "partly refunded",
    )
    for phrase in phrases:
        assert phrase in content
    # The VAT is 32 609 cents of the fee and 19 565 of the rest; without it the fee was 217 391 and is 130 435 now.
    for amount in ("000.00", "130.44", "869.56", "173.91", "304.35", "500.00"):
        assert amount in content
    assert extract_text(owner.get(f"{path}/invoice", query_string={"number": number}).data) == content
    assert_ledger_integrity()


def test_without_a_vat_number_it_is_a_credit_note(client: Client, owner: Client) -> None:
    path = receive_fee(client, owner)
    data(owner.post(f"{path}/fee/refund", {"reason": "They fell ill"}))
    register_for_vat(owner)
    name, content = read_attachment()
    assert name.startswith("Credit note CN-STL-")
    assert "VAT" not in content and "Tax" not in content and "They fell ill" in content


def test_a_refund_before_the_invoice_issues_both(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay"))
    assert fetch_scalar("SELECT count(*) FROM stall_fee_invoice") == 0
    data(owner.post(f"{LIST}/{application['id']}/fee/refund", {"reason": "They fell ill"}))
    assert fetch_scalar(COUNT) == 0
    run_all_jobs()
    assert (fetch_scalar("SELECT count(*) FROM stall_fee_invoice"), fetch_scalar(COUNT)) == (1, 1)
    assert_ledger_integrity()


def test_merchant_organiser_and_nobody_else_find_it(client: Client, owner: Client) -> None:
    path = receive_fee(client, owner)
    token = find_mailed_token("pay")
    number = data(owner.post(f"{path}/fee/refund", PART))["payment"]["refund"]["creditNoteNumber"]
    query = {"number": number}
    merchant, other = (create_signed_in_client(client, create_account(roles=["merchant"])) for _ in range(2))
    with transaction() as session:
        account_id = data(merchant.get("/api/auth/me"))["id"]
        session.execute(text("UPDATE merchant_application SET account_id = :id"), {"id": account_id})
    assert merchant.get(f"{path}/invoice", query_string=query).status_code == 200
    for stranger in (other, create_organiser_client(client)):
        assert read_error(stranger.get(f"{path}/invoice", query_string=query)) == (404, "NOT_FOUND")
    wrong = {"number": number[:-1] + "9"}
    assert read_error(owner.get(f"{path}/invoice", query_string=wrong)) == (404, "NOT_FOUND")
    assert client.get(f"/pay/{token}/invoice", query_string=wrong).status_code == 404
    page = client.get(f"/pay/{token}")
    assert f"Credit note {number} (PDF)" in page.text
    assert b"CN-STL" in client.get(f"/pay/{token}/invoice", query_string=query).data
    assert data(client.get(f"{LIST}/pay/{token}"))["creditNoteNumber"] == number
    event_id = data(owner.get(path))["eventId"]
    (row,) = data(owner.get(f"/api/events/{event_id}/stall-fees"))["fees"]
    assert row["creditNoteNumber"] == number and re.fullmatch(r"STL-\d{4}-00001", row["invoiceNumber"])
    header, cells = owner.get(f"/api/events/{event_id}/stall-fees.csv").text.splitlines()
    assert header.endswith("invoiceNumber,creditNoteNumber") and cells.endswith(f',"{number}"')


def test_a_reason_with_a_web_address_is_refused(client: Client, owner: Client) -> None:
    path = receive_fee(client, owner)
    answer = owner.post(f"{path}/fee/refund", {"reason": "See https://example.com"})
    assert read_error(answer) == (422, "VALIDATION_FAILED") and fetch_scalar(COUNT) == 0


def test_an_answer_that_comes_often_gives_one_credit_note(app: Flask, client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    pay_stall_fee(client, find_mailed_token("pay"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HttpRail, "refund_charge", lambda *_: ChargeState(outcome=Outcome.UNKNOWN))
        data(owner.post(f"{LIST}/{application['id']}/fee/refund", {"reason": "They fell ill"}))
        run_all_jobs()
    payment_id = fetch_scalar("SELECT id FROM stall_payment")

    def report(_: int) -> None:
        with app.app_context():
            record_outcome(payment_id, ChargeState(outcome=Outcome.REFUNDED))

    run_concurrently(64, report)
    run_all_jobs()
    assert fetch_scalar(COUNT) == 1 and fetch_scalar("SELECT count(*) FROM stall_fee_invoice") == 1
    assert read_attachment()[0].endswith("-00001.pdf")
    assert_ledger_integrity()


def test_of_64_recorded_refunds_one_has_a_credit_note(client: Client, owner: Client) -> None:
    path = receive_fee(client, owner)
    for _ in range(4):
        assert set(run_concurrently(16, lambda _: owner.post(f"{path}/fee/refund", PART).status_code)) == {200}
    assert fetch_scalar(COUNT) == 1 and read_attachment()
    assert_ledger_integrity()


def test_refunds_of_many_fees_have_numbers_without_gaps(client: Client, owner: Client) -> None:
    paths = [receive_fee(client, owner) for _ in range(6)]
    answers = run_concurrently(6, lambda at: owner.post(f"{paths[at]}/fee/refund", PART).get_json())
    numbers = sorted(answer["data"]["payment"]["refund"]["creditNoteNumber"][-5:] for answer in answers)
    assert numbers == [f"{number:05d}" for number in range(1, 7)]
    assert_ledger_integrity()


def test_refunds_of_an_earlier_version_get_theirs(
    client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = receive_fee(client, owner)
    with monkeypatch.context() as patch:
        patch.setattr(fee_refunds, "issue_credit_note", lambda *_: None)
        data(owner.post(f"{path}/fee/refund", PART))
    assert fetch_scalar(COUNT) == 0
    with pytest.raises(AssertionError):
        assert_ledger_integrity()
    assert (issue_missing_credit_notes(), issue_missing_credit_notes()) == (1, 0)
    assert_ledger_integrity()


@pytest.mark.parametrize(
    "change", ["UPDATE stall_fee_credit_note SET total_minor = -1", "DELETE FROM stall_fee_credit_note"]
)
def test_the_database_refuses_to_change_a_credit_note(client: Client, owner: Client, change: str) -> None:
    path = receive_fee(client, owner)
    data(owner.post(f"{path}/fee/refund", PART))
    with pytest.raises(DBAPIError, match="never changed or removed"), transaction() as session:
        session.execute(text(change))
