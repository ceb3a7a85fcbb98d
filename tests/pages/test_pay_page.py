"""Paying the stall fee on its page."""

import re
from dataclasses import replace

import pytest
from flask import Flask

from app.clients.payrail.disabled import DisabledRail
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    CODE,
    EMAIL,
    LIST,
    TRANSFER_DAY,
    create_approved_application,
    find_mailed_token,
    give_bank_details,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems
from tests.pages.pages import Visitor


def pay_page(client: Client, **fields: object) -> str:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[], **fields)
    return f"/pay/{find_mailed_token('pay')}"


def test_the_fee_is_paid_with_the_code(client: Client, visitor: Visitor) -> None:
    page = visitor.open(pay_page(client))
    assert "N$\u00a02\u202f500.00" in page.text and "Pay from <strong>••••4567</strong>" in page.text
    assert re.search("To <strong>[^<]+</strong>", page.text)
    page = visitor.send()
    assert "<h1>Enter the code</h1>" in page.text
    page = visitor.send(code=" 123 456 ")
    assert "<h1>Your stall fee is paid</h1>" in page.text and "activate your account" in page.text
    assert list_mails_to(EMAIL)[1]["subject"].startswith("Windhoek Lights: receipt for")


def test_only_a_trial_system_says_the_code(app: Flask, client: Client, visitor: Visitor) -> None:
    path, settings = pay_page(client), app.extensions["settings"]
    assert "Trial system" not in visitor.open(path).text
    assert f"Trial system: the code is {CODE}." in visitor.send().text
    for mode in ("live", "disabled"):
        app.extensions["settings"] = replace(settings, PAYRAIL_MODE=mode)
        try:
            page = visitor.open(path).text
        finally:
            app.extensions["settings"] = settings
        assert "<h1>Enter the code</h1>" in page and "Trial system" not in page and CODE not in page, mode


def test_a_bank_transfer_is_no_wallet(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, documentsRequired=[])
    transfer = {"amountMinor": 250000, "reference": "MA-1", "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{application['id']}/fee/received", transfer))
    page = visitor.open(f"/pay/{find_mailed_token('pay')}")
    assert "The organiser has received your bank transfer of N$\u00a02\u202f500.00." in page.text
    assert "wallet" not in page.text.split("<main")[1]


def test_a_wrong_code_keeps_the_page_and_says_how_often_it_may_be_tried(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client))
    visitor.send()
    page = visitor.send(code="000000")
    assert page.status_code == 422
    assert "You can try 4 more times" in page.text
    assert visitor.elements["code"]["aria-invalid"] == "true"
    assert "is paid</h1>" in visitor.send(code=CODE).text


def test_after_five_wrong_codes_the_payment_starts_again(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client))
    visitor.send()
    for _ in range(5):
        page = visitor.send(code="000000")
    assert "wrong five times" in page.text and "Send me a new code" in page.text
    assert "payrailMsisdn" in visitor.forms[0].fields
    visitor.send()
    assert "is paid</h1>" in visitor.send(code=CODE).text


def test_another_wallet_gets_a_code_of_its_own(client: Client, visitor: Visitor) -> None:
    path = pay_page(client)
    visitor.open(path)
    visitor.send()
    visitor.open(f"{path}?wallet=1")
    page = visitor.send(payrailMsisdn="081 765 4321")
    assert "••••4321" in page.text
    assert "is paid</h1>" in visitor.send(code=CODE).text


def test_what_was_typed_is_kept(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client))
    page = visitor.send(payrailMsisdn="not a number")
    assert page.status_code == 422
    assert page.text.count("Enter a phone number like 081 123 4567.") == 2
    assert visitor.forms[0].fields["payrailMsisdn"] == "not a number"


def test_a_wallet_that_declines_is_told_and_another_one_offered(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client, payrailMsisdn="+264811230001"))
    visitor.send()
    page = visitor.send(code=CODE)
    assert page.status_code == 409 and "The wallet declined the payment" in page.text
    assert "is paid</h1>" in [visitor.send(payrailMsisdn="081 123 4567"), visitor.send(code=CODE)][1].text


def test_an_answer_that_does_not_come_is_waited_for(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client, payrailMsisdn="+264811230002"))
    visitor.send()
    page = visitor.send(code=CODE)
    assert "<h1>We are waiting for your payment</h1>" in page.text and "Check again" in page.text
    assert "We are waiting for your wallet ••••0002 to confirm N$\u00a0" in page.text
    assert "Waiting for your wallet" in page.text and "Pay from your mobile wallet" not in page.text
    assert visitor.forms == []


def test_where_payments_are_off_the_page_says_so(
    app: Flask, client: Client, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.extensions, "payrail", DisabledRail())
    visitor.open(pay_page(client))
    page = visitor.send()
    assert page.status_code == 503 and "Payments are switched off here" in page.text


def test_a_stall_without_a_wallet_asks_for_one(client: Client, visitor: Visitor) -> None:
    visitor.open(pay_page(client, payrailMsisdn=None))
    page = visitor.send()
    assert page.status_code == 422 and page.text.count("Enter the number of your wallet.") == 2


def test_a_transfer_shows_account_and_reference(client: Client, visitor: Visitor) -> None:
    path = pay_page(client, destination="bank", payrailMsisdn=None)
    give_bank_details()
    fee = data(client.get(f"{LIST}{path}"))
    assert (fee["destination"], fee["bank"]["accountNumber"], fee["bank"]["branchCode"]) == (
        "bank",
        "62001234567",
        "482172",
    )
    page = visitor.open(path)
    for text in ("Lights CC", "62001234567", "Bank Windhoek", "482172", fee["reference"], "By bank transfer"):
        assert text in page.text, text
    page = visitor.open(f"{path}?wallet=1")
    assert "62001234567" not in page.text
    visitor.send(payrailMsisdn="081 123 4567")
    assert "is paid</h1>" in visitor.send(code=CODE).text


def test_without_bank_details_the_page_says_whom_to_ask(client: Client, visitor: Visitor) -> None:
    path = pay_page(client, destination="bank")
    assert data(client.get(f"{LIST}{path}"))["bank"] is None
    page = visitor.open(path)
    assert "for the bank account" in page.text and "mailto:" in page.text.split("Pay by bank transfer")[1]


def test_a_payer_by_wallet_may_choose_a_transfer(client: Client, visitor: Visitor) -> None:
    path = pay_page(client)
    assert "Pay by bank transfer instead" not in visitor.open(path).text
    give_bank_details()
    assert "Pay by bank transfer instead" in visitor.open(path).text
    assert "62001234567" in visitor.open(f"{path}?transfer=1").text


def test_an_organiser_may_take_transfers_only(client: Client, visitor: Visitor) -> None:
    """A payment that was started before ends with its code; a new one is refused, by the page and by the API."""
    path = pay_page(client)
    visitor.open(path)
    give_bank_details(transfers_only=True)
    page = visitor.send(payrailMsisdn="081 123 4567")
    assert page.status_code == 422 and "by bank transfer only" in page.text and "62001234567" in page.text
    page = visitor.open(f"{path}?wallet=1")
    assert "62001234567" in page.text and "Send me a code" not in page.text and "mobile wallet" not in page.text
    fee = data(client.get(f"{LIST}{path}"))
    assert (fee["destination"], fee["transfersOnly"]) == ("bank", True)
    answer = client.post(f"{LIST}{path}", {"payrailMsisdn": "0811234567"})
    assert list_problems(answer) == {"payrailMsisdn": "not_accepted"}


def test_a_payment_that_was_started_before_is_finished(client: Client, visitor: Visitor) -> None:
    path = pay_page(client)
    visitor.open(path)
    visitor.send()
    give_bank_details(transfers_only=True)
    assert "another wallet" not in visitor.open(path).text
    assert "Send me a code" not in visitor.open(f"{path}?wallet=1").text
    assert "is paid</h1>" in visitor.send(code=CODE).text


def test_an_interrupted_start_is_not_repeated_where_only_transfers_are_taken(client: Client) -> None:
    path = f"{LIST}{pay_page(client)}"
    data(client.post(path))
    execute_sql("UPDATE stall_payment SET status = 'starting'")
    give_bank_details(transfers_only=True)
    assert list_problems(client.post(path)) == {"payrailMsisdn": "not_accepted"}


def test_a_refunded_fee_is_not_paid_again(client: Client, visitor: Visitor) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, documentsRequired=[])
    path = f"/pay/{find_mailed_token('pay')}"
    transfer = {"amountMinor": 250000, "reference": "MA-1", "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{application['id']}/fee/received", transfer))
    data(owner.post(f"{LIST}/{application['id']}/fee/refund", {"reason": "They fell ill"}))
    page = visitor.open(path)
    assert "<h1>Your stall fee is refunded</h1>" in page.text and visitor.forms == []


def test_details_of_the_buyer_are_on_the_invoice(client: Client, visitor: Visitor) -> None:
    path = pay_page(client)
    visitor.open(f"{path}/billing")
    page = visitor.send(billingAddress="x", billingVatNumber="none")
    assert page.status_code == 422 and "Enter digits only" in page.text
    page = visitor.send(billingAddress="Stand 14, Soweto Market", billingVatNumber="7654321-01-5")
    assert "<h1>Pay the stall fee</h1>" in page.text and "Pro forma invoice (PDF)" in page.text
    token = path.rpartition("/")[2]
    shown = data(client.get(f"{LIST}/pay/{token}"))
    assert (shown["billingAddress"], shown["billingVatNumber"]) == ("Stand 14, Soweto Market", "7654321015")
    visitor.open(f"{path}/billing")
    pay_stall_fee(client, token)
    assert list_mails_to(EMAIL)
    page = visitor.send(billingAddress="", billingVatNumber="")
    assert page.status_code == 409 and "The invoice is issued" in page.text


def test_after_the_payment_the_page_leads_to_the_documents(client: Client, visitor: Visitor) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=["identity"])
    path = f"/pay/{find_mailed_token('pay')}"
    visitor.open(path)
    visitor.send()
    page = visitor.send(code=CODE)
    assert f'href="/documents/{find_mailed_token("documents")}"' in page.text
    assert "Details on the invoice" not in page.text
