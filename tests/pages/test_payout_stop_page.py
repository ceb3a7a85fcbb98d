"""The page behind the mailed link that stops payouts to a new destination."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.payouts.emails import build_stop_url
from tests.factories.accounts import list_mails_to
from tests.factories.payouts import (
    PATH,
    FakeRail,
    advance_time,
    assert_ledger_integrity,
    create_earning_merchant,
    destination_hold,
    load_balance,
    load_payout,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, read_error
from tests.pages.pages import Visitor

SUBJECT = "A payout to a new destination"
OTHER = "+264817654321"


def notices(email: str) -> list[dict[str, Any]]:
    return [item for item in list_mails_to(email) if SUBJECT in item["subject"]]


def link_in(mail: dict[str, Any]) -> str:
    found = re.search(r"https?://[^/\s]+(/payout-stop/\S+)", mail["text"])
    assert found, mail["text"]
    return found[1]


def test_the_mailed_link_stops_it_without_signing_in(app: Flask, client: Client, visitor: Visitor) -> None:
    with destination_hold(app, hours=24), use_rail(FakeRail()) as sink:
        me, who = create_earning_merchant(client, 9000)
        mine = request_payout(me, 1000)
        second, elsewhere = request_payout(me, 500), request_payout(me, 200, payrailMsisdn=OTHER)
        run_all_jobs()
        path = link_in(next(notice for notice in notices(who.email) if "10.00" in notice["text"]))
        for method in ("HEAD", "GET", "GET"):
            assert visitor.flask.open(path, method=method).status_code == 200
        page = visitor.open(path)
        assert page.status_code == 200 and load_payout(me, mine)["status"] == "requested"
        assert "N$\u00a010.00" in page.text and "••••567" in page.text
        for secret in (who.email, who.name, "Kapana", "811234567"):
            assert secret not in page.text
        assert page.headers["Cache-Control"] == "no-store"
        page = visitor.send(form=0)
        assert "stopped" in page.text.lower()
        for made, status in ((mine, "cancelled"), (second, "cancelled"), (elsewhere, "requested")):
            assert load_payout(me, made)["status"] == status
        last = load_payout(me, mine)["history"][-1]
        assert (last["actor"], last["reason"]) == ("merchant", "STOPPED_BY_LINK")
        assert load_balance(me) == (8800, 200)
        advance_time(timedelta(days=3))
        assert sink.tries == [elsewhere["id"]] and visitor.open(path).status_code == 200
        assert read_error(me.post(f"{PATH}/{elsewhere['id']}/cancel")) == (409, "NOT_CANCELLABLE")
    assert_ledger_integrity()


def test_what_has_left_is_not_stopped_and_the_page_says_so(client: Client, visitor: Visitor) -> None:
    me, _ = create_earning_merchant(client, 5000)
    made = request_payout(me)
    run_all_jobs()
    path = "/" + build_stop_url(made["id"]).split("/", 3)[3]
    page = visitor.open(path)
    assert page.status_code == 200 and "<form" not in page.text and "You cannot stop this payout" in page.text
    assert load_payout(me, made)["status"] == "paid"


@pytest.mark.parametrize("token", ["nonsense", "A" * 52, "%00", "0" * 24])
def test_a_link_that_is_none_of_ours_has_a_page_that_says_so(client: Client, token: str) -> None:
    answer = client.get(f"/payout-stop/{token}")
    assert answer.status_code == 404 and "text/html" in answer.headers["Content-Type"]


def test_a_form_from_elsewhere_stops_nothing(app: Flask, client: Client) -> None:
    with destination_hold(app, hours=24):
        me, _ = create_earning_merchant(client, 5000)
        made = request_payout(me)
        path = "/" + build_stop_url(made["id"]).split("/", 3)[3]
        assert client.flask.post(path).status_code == 400
        assert load_payout(me, made)["status"] == "requested"
