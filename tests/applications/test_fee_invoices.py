"""Invoices of stall fees: a pro forma invoice while the fee is due, one invoice with the next number when it is paid."""

import re
from base64 import b64decode
from datetime import date
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.applications.fee_invoices import load_fee_document
from app.core.transaction import transaction
from app.invoicing import sql
from tests.allocations.documents import extract_text
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to
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
from tests.factories.events import create_organiser_client
from tests.factories.organisations import ACCOUNT_NUMBER, VAT_NUMBER, register_for_vat
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

TRANSFER = {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def read_invoice(reader: Client, application: dict[str, Any]) -> str:
    response = reader.get(f"{LIST}/{application['id']}/invoice")
    assert response.status_code == 200 and response.content_type == "application/pdf", response.data
    return extract_text(response.data)


def read_attachment(subject: str) -> tuple[str, str]:
    """Name and text of the PDF of the newest mail with that in its subject."""
    mail = next(mail for mail in list_mails_to(EMAIL) if subject in mail["subject"])
    (attachment,) = mail["attachments"]
    return attachment["name"], extract_text(b64decode(attachment["content"]))


def test_a_fee_that_is_due_has_a_pro_forma_invoice(client: Client, owner: Client) -> None:
    register_for_vat(owner)
    application = create_approved_application(client, owner, documentsRequired=[])
    text_of = read_invoice(owner, application)
    assert "Pro forma invoice" in text_of and "Tax invoice" not in text_of and "STL-" not in text_of
    for phrase in ("Kapana Corner", application["reference"], ACCOUNT_NUMBER, "Due", "VAT 15 %", "Stall fee"):
        assert phrase in text_of
    name, attached = read_attachment("your stall is approved")
    assert name == f"Pro forma invoice {application['reference']}.pdf" and attached == text_of
    assert fetch_scalar("SELECT count(*) FROM stall_fee_invoice") == 0


def test_a_paid_fee_has_a_tax_invoice_with_a_number(client: Client, owner: Client) -> None:
    register_for_vat(owner)
    application = create_approved_application(client, owner, documentsRequired=[])
    token = find_mailed_token("pay")
    assert data(client.get(f"{LIST}/pay/{token}"))["invoiceNumber"] is None
    pay_stall_fee(client, token)
    name, attached = read_attachment("receipt for")
    (number,) = set(re.findall(r"STL-\d{4}-00001", attached))
    assert name == f"Tax invoice {number}.pdf" and number in list_mails_to(EMAIL)[1]["text"]
    assert attached.count("Tax invoice") == 2 and attached.count(f"VAT registration number {VAT_NUMBER}") == 1
    for phrase in ("12 Independence Avenue", "Kapana Corner", "Quantity", "Amount without VAT", "VAT 15 %", "Total"):
        assert phrase in attached
    assert "Paid on" in attached and "by mobile wallet" in attached and ACCOUNT_NUMBER not in attached
    assert read_invoice(owner, application) == attached
    assert data(client.get(f"{LIST}/pay/{token}"))["invoiceNumber"] == number
    assert fetch_scalar("SELECT last FROM invoice_counter WHERE series = 'stall_fee'") == 1


def test_an_organisation_without_a_vat_number_issues_no_tax_invoice(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    data(owner.post(f"{LIST}/{application['id']}/fee/received", TRANSFER))
    name, attached = read_attachment("receipt for")
    assert re.fullmatch(r"Invoice STL-\d{4}-00001.pdf", name)
    received_on = date.fromisoformat(TRANSFER_DAY)
    assert "by bank transfer" in attached and f"{received_on.day} {received_on:%B %Y}" in attached
    assert "VAT" not in attached and "Tax" not in attached and "tax" not in attached


def test_no_invoice_names_an_id(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    assert not re.search(r"[0-9a-f]{24}", read_invoice(owner, application))
    pay_stall_fee(client, find_mailed_token("pay"))
    assert not re.search(r"[0-9a-f]{24}", read_invoice(owner, application))


def test_a_waived_fee_is_shown_as_waived(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    data(owner.post(f"{LIST}/{application['id']}/fee/waive", {"reason": "a school"}))
    text_of = read_invoice(owner, application)
    assert "Pro forma invoice" in text_of and "Waived on" in text_of and "How to pay" not in text_of


BUYER = {"billingAddress": "Stand 14, Soweto Market\nKatutura", "billingVatNumber": "7654321015"}


def test_the_applicant_says_who_the_invoice_is_for(client: Client, owner: Client) -> None:
    register_for_vat(owner)
    application = create_approved_application(client, owner, documentsRequired=[])
    token = find_mailed_token("pay")
    assert data(client.patch(f"{LIST}/pay/{token}", BUYER))["billingVatNumber"] == "7654321015"
    data(client.patch(f"{LIST}/pay/{token}", {"billingVatNumber": None}))
    assert "7654321015" not in read_invoice(owner, application)
    shown = data(client.patch(f"{LIST}/pay/{token}", {"billingVatNumber": "7654321-01-5"}))
    assert (shown["billingVatNumber"], shown["billingAddress"][:8]) == ("7654321015", "Stand 14")
    pay_stall_fee(client, token)
    text_of = read_invoice(owner, application)
    for phrase in ("Stand 14, Soweto Market\nKatutura\n", "VAT registration number 7654321015"):
        assert phrase in text_of
    assert read_error(client.patch(f"{LIST}/pay/{token}", {"billingAddress": None})) == (409, "INVOICE_ISSUED")
    assert data(client.patch(f"{LIST}/pay/{token}", {"billingVatNumber": "7654321015"}))["invoiceNumber"]


def test_an_invoice_does_not_follow_later_changes(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    data(owner.post(f"{LIST}/{application['id']}/fee/received", TRANSFER))
    before = read_invoice(owner, application)
    register_for_vat(owner)
    assert read_invoice(owner, application) == before


@pytest.mark.parametrize(
    "change",
    ["UPDATE stall_fee_invoice SET total_minor = 1", "DELETE FROM stall_fee_invoice", "TRUNCATE stall_fee_invoice"],
)
def test_the_database_refuses_to_change_an_invoice(client: Client, owner: Client, change: str) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    data(owner.post(f"{LIST}/{application['id']}/fee/received", TRANSFER))
    assert read_attachment("receipt for")
    with pytest.raises(DBAPIError, match="never changed or removed"), transaction() as session:
        session.execute(text(change))


def test_an_application_without_a_fee_has_no_invoice(client: Client, owner: Client) -> None:
    application = create_application(client, owner)
    path = f"{LIST}/{application['id']}/invoice"
    assert read_error(owner.get(path)) == (409, "INVOICE_NOT_AVAILABLE")
    decide_application(owner, application, "declined", declineReason="Full")
    assert read_error(owner.get(path)) == (409, "INVOICE_NOT_AVAILABLE")
    free = create_approved_application(client, owner, amountMinor=0)
    assert read_error(owner.get(f"{LIST}/{free['id']}/invoice")) == (409, "INVOICE_NOT_AVAILABLE")


def test_the_applicant_reads_the_invoice_and_others_do_not(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    path = f"{LIST}/{application['id']}/invoice"
    applicant, other = (create_signed_in_client(client, create_account(roles=["merchant"])) for _ in range(2))
    with transaction() as session:
        account_id = data(applicant.get("/api/auth/me"))["id"]
        session.execute(text("UPDATE merchant_application SET account_id = :id"), {"id": account_id})
    assert applicant.get(path).status_code == 200
    assert read_error(other.get(path)) == read_error(create_organiser_client(client).get(path)) == (404, "NOT_FOUND")
    assert read_error(client.get(path)) == (401, "TOKEN_MISSING")


def test_numbers_of_an_organisation_follow_each_other(client: Client, owner: Client) -> None:
    applications = [create_approved_application(client, owner, documentsRequired=[]) for _ in range(3)]
    for application in applications:
        data(owner.post(f"{LIST}/{application['id']}/fee/received", TRANSFER))
    found = [re.findall(r"STL-\d{4}-\d{5}", read_invoice(owner, application))[0] for application in applications]
    assert [number[-5:] for number in found] == ["00001", "00002", "00003"]


def settle_without_invoice(client: Client, owner: Client, count: int) -> list[str]:
    """The ids of applications whose fee is paid and whose invoice is not issued."""
    ids = [create_approved_application(client, owner, documentsRequired=[])["id"] for _ in range(count)]
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET paid_at = now()"))
    return ids


def test_concurrent_readers_get_one_invoice_and_numbers_without_gaps(app: Flask, client: Client, owner: Client) -> None:
    ids = settle_without_invoice(client, owner, 4)

    def load(number: int) -> str:
        with app.app_context():
            return load_fee_document(ids[number % 4]).number

    found = run_concurrently(32, load)
    assert sorted(number[-5:] for number in set(found)) == ["00001", "00002", "00003", "00004"]
    assert fetch_scalar("SELECT count(*) FROM stall_fee_invoice") == 4


def test_a_failed_issue_leaves_no_gap(
    app: Flask, client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    (application_id,) = settle_without_invoice(client, owner, 1)
    with monkeypatch.context() as broken:
        broken.setattr("app.applications.fee_invoices.record_application_act", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            load_fee_document(application_id)
    assert load_fee_document(application_id).number.endswith("-00001")


@pytest.mark.control
def test_numbers_collide_without_the_lock_of_the_counter(
    app: Flask, client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = settle_without_invoice(client, owner, 8)
    last = "SELECT coalesce(max(sequence), 0) + 1 FROM stall_fee_invoice WHERE organiser_id = :organiser_id"
    unlocked = f"SELECT CAST(extract(year FROM now() AT TIME ZONE :home) AS int), ({last}) FROM pg_sleep(0.05)"
    monkeypatch.setattr(sql, "TAKE_NUMBER", text(f"{unlocked} WHERE :series <> ''"))

    def load(number: int) -> bool:
        with app.app_context():
            try:
                return bool(load_fee_document(ids[number]))
            except DBAPIError:
                return False

    assert set(run_concurrently(8, load)) == {True, False}


def test_the_payment_page_leads_to_the_invoice(client: Client, owner: Client) -> None:
    create_approved_application(client, owner, documentsRequired=[])
    token = find_mailed_token("pay")
    page = client.get(f"/pay/{token}")
    assert f'href="/pay/{token}/invoice"' in page.text and "Pro forma invoice (PDF)" in page.text
    document = client.get(f"/pay/{token}/invoice")
    assert document.content_type == "application/pdf" and "Pro forma invoice" in extract_text(document.data)
    pay_stall_fee(client, token)
    assert read_attachment("receipt for")
    assert re.search(r"Invoice STL-\d{4}-00001 \(PDF\)", client.get(f"/pay/{token}").text)
    assert client.get("/pay/unknown/invoice").status_code == 404
