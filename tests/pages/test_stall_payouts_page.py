"""Payouts and payout details of a merchant, as a browser without scripts uses them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.payouts import actions
from app.payouts.statement import get_today
from tests.factories.accounts import PASSWORD, create_signed_in_client, list_mails_to
from tests.factories.merchants import create_merchant_account
from tests.factories.payouts import (
    PATH,
    FakeRail,
    age_sign_ins,
    assert_ledger_integrity,
    create_earning_merchant,
    execute_sql,
    fetch_scalar,
    import_earnings,
    load_balance,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, data
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_stall_page import create_member
from tests.pages.test_team_pages import press
from tests.races import run_concurrently

PAYOUTS, DETAILS = "/stall/payouts", "/stall/payout-details"
FORM = {"amountMinor": "12.50", "destination": "payrail", "scheduledFor": ""}


def list_payouts(me: Client) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data(me.get(PATH))["payoutRequests"]
    return rows


def find_errors(page: str) -> set[str]:
    return set(re.findall(r'<a href="#(\w+)">', page.split('id="summary"')[1].split("</ul>")[0]))


def test_payout_to_a_new_destination_is_confirmed_with_the_password(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    age_sign_ins(account)
    page = visitor.open(PAYOUTS).text
    assert "N$\u00a090.00" in page and "••••567" in page and 'name="password"' not in page
    page = press(visitor, PAYOUTS, **FORM)
    assert "Nothing was paid to this destination before." in page and 'value="12.50"' in page
    assert list_payouts(me) == []
    page = press(visitor, PAYOUTS, **FORM, password="not my password")
    assert "This password is wrong. Try again." in page and list_payouts(me) == []
    page = press(visitor, PAYOUTS, **FORM, password=PASSWORD)
    assert "N$\u00a012.50 to ••••567: it leaves" in page and "N$\u00a077.50" in page
    (payout,) = list_payouts(me)
    assert (payout["amountMinor"], payout["mode"]) == (1250, "now") and payout["heldUntil"]
    assert [mail for mail in list_mails_to(account.email) if "new destination" in mail["subject"]]


def test_recent_sign_in_confirms_too(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    visitor.open(PAYOUTS)
    assert "it leaves" in press(visitor, PAYOUTS, **FORM) and len(list_payouts(me)) == 1


def test_account_without_a_password_signs_in_again(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    age_sign_ins(account)
    execute_sql("UPDATE account SET password_hash = NULL WHERE id = :id", id=account.id)
    visitor.open(PAYOUTS)
    page = press(visitor, PAYOUTS, **FORM)
    assert "/sign-in?again=yes&amp;next=/stall/payouts" in page and list_payouts(me) == []


def test_payout_on_a_day_and_its_cancellation(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    visitor.open(PAYOUTS)
    day = (get_today() + timedelta(days=3)).isoformat()
    press(visitor, PAYOUTS, **{**FORM, "amountMinor": "N$ 90", "destination": "bank", "scheduledFor": day})
    (payout,) = list_payouts(me)
    assert (payout["status"], payout["amountMinor"], payout["destination"]) == ("scheduled", 9000, "bank")
    assert load_balance(me) == (0, 9000)
    page = press(visitor, "/cancel")
    assert "is cancelled. The money is in your balance again." in page and load_balance(me) == (9000, 0)
    token = visitor.forms[0].fields["csrf_token"]
    again = visitor.flask.post(f"{PAYOUTS}/{payout['id']}/cancel", data={"csrf_token": token})
    assert again.status_code == 303, "cancelling twice changes nothing"
    assert_ledger_integrity()


def test_payout_that_has_left_cannot_be_cancelled(app: Flask, client: Client) -> None:
    with use_rail(FakeRail()):
        me, account = create_earning_merchant(client, 9000)
        visitor = sign_in_browser(app, account)
        visitor.open(PAYOUTS)
        press(visitor, PAYOUTS, **FORM)
        (payout,) = list_payouts(me)
        execute_sql("UPDATE payout SET held_until = now(), owner_told_at = now()")
        run_all_jobs()
        token = visitor.forms[0].fields["csrf_token"]
        page = visitor.flask.post(f"{PAYOUTS}/{payout['id']}/cancel", data={"csrf_token": token})
        assert page.status_code == 409 and "so it cannot be cancelled" in page.text


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({"amountMinor": "", "destination": ""}, {"amountMinor", "destination"}),
        ({"amountMinor": "much", "destination": "gold"}, {"amountMinor", "destination"}),
        ({"amountMinor": "0"}, {"amountMinor"}),
        ({"amountMinor": "-1"}, {"amountMinor"}),
        ({"amountMinor": "90.01"}, {"amountMinor"}),
        ({"amountMinor": "9" * 400}, {"amountMinor"}),
        ({"scheduledFor": "2020-01-01"}, {"scheduledFor"}),
        ({"scheduledFor": "soon"}, {"scheduledFor"}),
    ],
)
def test_mistakes_are_shown_at_their_fields(
    app: Flask, client: Client, typed: dict[str, str], fields: set[str]
) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    visitor.open(PAYOUTS)
    assert find_errors(press(visitor, PAYOUTS, **{**FORM, **typed})) == fields
    assert list_payouts(me) == [] and load_balance(me) == (9000, 0)


def press_all(visitor: Visitor) -> list[int]:
    """The statuses of eight presses of the same form, at the same moment."""
    visitor.open(PAYOUTS)
    number = next(number for number, form in enumerate(visitor.forms) if form.action == PAYOUTS)
    body = {**visitor.forms[number].fields, **FORM}
    cookies = {name: visitor.flask.get_cookie(name) for name in ("console", "sign-in")}

    def send(_: int) -> int:
        flask = visitor.flask.application.test_client()
        for name, cookie in cookies.items():
            assert cookie is not None
            flask.set_cookie(name, cookie.value)
        return flask.post(PAYOUTS, data=body).status_code

    return run_concurrently(8, send)


def test_form_that_is_sent_eight_times_at_once_pays_once(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 90000)
    statuses = press_all(sign_in_browser(app, account))
    assert statuses == [303] * 8 and load_balance(me) == (90000 - 1250, 1250)
    assert_ledger_integrity()


@pytest.mark.control
def test_control_without_the_key_it_pays_more_than_once(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_payout = actions.request_payout
    monkeypatch.setattr(
        actions, "request_payout", lambda **values: request_payout(**{**values, "idempotency_key": None})
    )
    me, account = create_earning_merchant(client, 90000)
    press_all(sign_in_browser(app, account))
    assert load_balance(me)[1] > 1250


def test_changed_form_is_another_payout(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, account)
    visitor.open(PAYOUTS)
    number = next(number for number, form in enumerate(visitor.forms) if form.action == PAYOUTS)
    for amount in ("10", "20", "10"):
        assert visitor.press(form=number, **{**FORM, "amountMinor": amount}).status_code == 303
    assert sorted(payout["amountMinor"] for payout in list_payouts(me)) == [1000, 2000]


def test_details_are_entered_shown_masked_and_kept(app: Flask, client: Client) -> None:
    account = create_merchant_account()
    me = create_signed_in_client(client, account)
    import_earnings(account, 5000)
    visitor = sign_in_browser(app, account)
    assert "it goes to the wallet or bank account that you add here" in visitor.open(PAYOUTS).text
    visitor.open(DETAILS)
    bank = {"accountName": "Kapana Corner", "accountNumber": "62 0012 34567", "bankName": "Bank Windhoek"}
    page = press(visitor, DETAILS, **bank, msisdn="081 123 4567", branchCode="", destination="bank")
    assert "Your payout details are saved." in page
    page = visitor.open(DETAILS).text
    assert "••••4567" in page and "62001234567" not in page and "811234567" not in page
    press(visitor, DETAILS, branchCode="482172", destination="bank")
    details = data(me.get("/api/merchants/me"))["payoutDetails"]
    assert (
        details["branchCode"] == "482172" and details["msisdn"].endswith("567") and "4567" in details["accountNumber"]
    )
    visitor.open(DETAILS)
    press(visitor, DETAILS, msisdn="", destination="bank")
    assert "msisdn" not in data(me.get("/api/merchants/me"))["payoutDetails"]
    assert [mail for mail in list_mails_to(account.email) if "payout details" in mail["subject"].lower()]


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({}, {"msisdn"}),
        ({"bankName": "Bank Windhoek"}, {"accountName", "accountNumber"}),
        ({"destination": "bank"}, {"accountName", "accountNumber", "bankName"}),
        ({"destination": "payrail"}, {"msisdn"}),
        ({"msisdn": "•••999"}, {"msisdn"}),
        ({"msisdn": "nobody"}, {"msisdn"}),
        (
            {"accountName": "K C", "accountNumber": "12a", "bankName": "B", "branchCode": "x"},
            {"accountNumber", "bankName", "branchCode"},
        ),
    ],
)
def test_incomplete_details_change_nothing(app: Flask, client: Client, typed: dict[str, str], fields: set[str]) -> None:
    account = create_merchant_account()
    visitor = sign_in_browser(app, account)
    visitor.open(DETAILS)
    assert find_errors(press(visitor, DETAILS, **{"destination": "", **typed})) == fields
    assert fetch_scalar("SELECT count(*) FROM merchant WHERE payout_details IS NOT NULL") == 0


def test_unverified_merchant_can_neither_request_nor_change(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE id = :id", id=account.id)
    visitor = sign_in_browser(app, account)
    visitor.open(PAYOUTS)
    assert "Confirm your e-mail address first" in press(visitor, PAYOUTS, **FORM)
    visitor.open(DETAILS)
    assert "Confirm your e-mail address first" in press(visitor, DETAILS, msisdn="0817654321")
    assert list_payouts(me) == []


def test_manager_cannot_choose_a_new_destination(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    visitor = sign_in_browser(app, create_member(client, account, "manager"))
    visitor.open(PAYOUTS)
    page = press(visitor, PAYOUTS, **FORM)
    assert "Only the owner of the business can request the first payout." in page and list_payouts(me) == []


def test_paused_merchant_gets_no_form(app: Flask, client: Client) -> None:
    me, account = create_earning_merchant(client, 9000)
    data(me.post("/api/merchants/me/pause"))
    page = sign_in_browser(app, account).open(PAYOUTS).text
    assert "Your business is paused, so no money leaves." in page and "Request a payout" not in page
