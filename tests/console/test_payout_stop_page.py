"""The page behind the mailed link that stops payouts to a new destination."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.payouts.notices import build_stop_url
from tests.console.pages import Visitor
from tests.factories.accounts import mails_to
from tests.factories.payouts import PATH, Sink, earner, later, lawful, money, rail_of, read, requested, resting, work
from tests.http import Client, refusal

SUBJECT = "A payout to a new destination"
OTHER = "+264817654321"


def notices(email: str) -> list[dict[str, Any]]:
    return [item for item in mails_to(email) if SUBJECT in item["subject"]]


def link_in(mail: dict[str, Any]) -> str:
    found = re.search(r"https?://[^/\s]+(/payout-stop/\S+)", mail["text"])
    assert found, mail["text"]
    return found[1]


def test_the_mailed_link_stops_it_without_signing_in(app: Flask, client: Client, visitor: Visitor) -> None:
    with resting(app, hours=24), rail_of(Sink()) as sink:
        me, who = earner(client, 9000)
        mine = requested(me, 1000)
        second, elsewhere = requested(me, 500), requested(me, 200, payrailMsisdn=OTHER)
        work()
        path = link_in(next(notice for notice in notices(who.email) if "10.00" in notice["text"]))
        for method in ("HEAD", "GET", "GET"):
            assert visitor.flask.open(path, method=method).status_code == 200
        page = visitor.open(path)
        assert page.status_code == 200 and read(me, mine)["status"] == "requested"
        assert "N$\u00a010.00" in page.text and "••••567" in page.text
        for secret in (who.email, who.name, "Kapana", "811234567"):
            assert secret not in page.text
        assert page.headers["Cache-Control"] == "no-store"
        page = visitor.send(form=0)
        assert "stopped" in page.text.lower()
        for made, status in ((mine, "cancelled"), (second, "cancelled"), (elsewhere, "requested")):
            assert read(me, made)["status"] == status
        last = read(me, mine)["history"][-1]
        assert (last["actor"], last["reason"]) == ("merchant", "STOPPED_BY_LINK")
        assert money(me) == (8800, 200)
        later(timedelta(days=3))
        assert sink.tries == [elsewhere["id"]] and visitor.open(path).status_code == 200
        assert refusal(me.post(f"{PATH}/{elsewhere['id']}/cancel")) == (409, "NOT_CANCELLABLE")
    lawful()


def test_what_has_left_is_not_stopped_and_the_page_says_so(client: Client, visitor: Visitor) -> None:
    me, _ = earner(client, 5000)
    made = requested(me)
    work()
    path = "/" + build_stop_url(made["id"]).split("/", 3)[3]
    page = visitor.open(path)
    assert page.status_code == 200 and "<form" not in page.text and "You cannot stop this payout" in page.text
    assert read(me, made)["status"] == "paid"


@pytest.mark.parametrize("token", ["nonsense", "A" * 52, "%00", "0" * 24])
def test_a_link_that_is_none_of_ours_has_a_page_that_says_so(client: Client, token: str) -> None:
    answer = client.get(f"/payout-stop/{token}")
    assert answer.status_code == 404 and "text/html" in answer.headers["Content-Type"]


def test_a_form_from_elsewhere_stops_nothing(app: Flask, client: Client) -> None:
    with resting(app, hours=24):
        me, _ = earner(client, 5000)
        made = requested(me)
        path = "/" + build_stop_url(made["id"]).split("/", 3)[3]
        assert client.flask.post(path).status_code == 400
        assert read(me, made)["status"] == "requested"
