"""Callbacks of the mock server, valid and with every fault."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from app.clients.payrail.callbacks import CallbackEvent, parse_callback
from app.clients.payrail.errors import CallbackNotSigned
from app.clients.payrail.http_rail import HttpRail
from mock_rail import CODE, Fault, MockServer
from tests.clients.rail import SECRET, charge, client_of, journal_of, send_transfer, serving, wait
from tests.settings import app_for


class Inbox:
    """What came in, and what it is answered."""

    def __init__(self, app: Flask) -> None:
        self.app, self.events, self.forged, self.status = app, list[CallbackEvent](), 0, 200

    def __call__(self, request: Request) -> Response:
        with self.app.app_context():
            try:
                self.events.append(parse_callback(request.headers, request.get_data()))
            except CallbackNotSigned:
                self.forged += 1
                return Response(status=401)
        return Response(status=self.status)

    @property
    def said(self) -> list[str]:
        return [f"{event.reference} {event.outcome}" for event in self.events]


@pytest.fixture(scope="module")
def live_app(application: Flask) -> Flask:
    """An application with a secret. Making one takes half a second, and no test here changes it."""
    ours = application.extensions["settings"]
    return app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, PAYRAIL_SECRET=SECRET)


@pytest.fixture
def inbox(live_app: Flask, httpserver: HTTPServer) -> Inbox:
    inbox = Inbox(live_app)
    httpserver.expect_request("/callbacks").respond_with_handler(inbox)
    return inbox


@pytest.fixture
def server(inbox: Inbox, httpserver: HTTPServer, tmp_path: Path) -> Iterator[MockServer]:
    with serving(tmp_path / "journal", callback_url=httpserver.url_for("/callbacks")) as server:
        yield server


@pytest.fixture
def rail(app: Flask, server: MockServer) -> HttpRail:
    return client_of(app, server.url)


def test_what_becomes_known_is_told_once(rail: HttpRail, inbox: Inbox) -> None:
    send_transfer(rail)
    send_transfer(rail)
    send_transfer(rail, reference="declines", ending="0001")
    rail.start_charge(charge())
    rail.confirm_charge("a-charge", CODE)
    wait(lambda: len(inbox.events) == 3)
    assert inbox.said == ["a-transfer paid", "declines failed", "a-charge paid"]
    assert (inbox.events[0].amount_minor, inbox.events[2].kind) == (90000, "charge")


def test_a_bounce_days_later_is_told_when_the_clock_is_there(rail: HttpRail, inbox: Inbox, server: MockServer) -> None:
    server.faults.set([Fault(do="bounce", seconds=3 * 86400, reference="a-transfer")])
    send_transfer(rail)
    wait(lambda: inbox.events)
    server.control("clock", {"advance": 3 * 86400})
    wait(lambda: len(inbox.events) == 2)
    assert inbox.said == ["a-transfer paid", "a-transfer returned"]
    between = inbox.events[1].at - inbox.events[0].at
    assert abs(between - timedelta(days=3)) < timedelta(minutes=1)
    assert rail.transfer_status("a-transfer").outcome == "returned"


def test_a_transfer_may_be_accepted_first(rail: HttpRail, inbox: Inbox, server: MockServer) -> None:
    server.faults.set([Fault(do="accept", seconds=600, times=1)])
    assert send_transfer(rail) == "accepted"
    wait(lambda: inbox.events)
    server.control("clock", {"advance": 600})
    wait(lambda: len(inbox.events) == 2)
    assert inbox.said == ["a-transfer accepted", "a-transfer paid"]


def test_callbacks_come_twice_contradicted_and_forged(rail: HttpRail, inbox: Inbox, server: MockServer) -> None:
    server.faults.set([Fault(do="duplicate", times_each=3), Fault(do="contradict"), Fault(do="forge")])
    send_transfer(rail)
    wait(lambda: len(inbox.events) == 4 and inbox.forged)
    assert Counter(inbox.said) == {"a-transfer paid": 3, "a-transfer failed": 1}
    assert len({event.event_id for event in inbox.events}) == 2 and inbox.forged == 1
    assert rail.transfer_status("a-transfer").outcome == "paid"


def test_callbacks_come_late_or_never(rail: HttpRail, inbox: Inbox, server: MockServer) -> None:
    server.faults.set([Fault(do="lose", reference="lost"), Fault(do="delay", seconds=86400)])
    send_transfer(rail, reference="lost")
    send_transfer(rail, reference="late")
    time.sleep(0.2)
    assert inbox.events == [] and server.callbacks.waiting == 1
    server.control("clock", {"advance": 86400})
    wait(lambda: inbox.events)
    assert inbox.said == ["late paid"]


def test_callbacks_are_held_and_sent_in_the_order_of_a_seed(rail: HttpRail, inbox: Inbox, server: MockServer) -> None:
    server.faults.set([Fault(do="hold")])
    for number in range(10):
        send_transfer(rail, reference=f"t-{number}", ending="0004")
    assert inbox.events == []
    server.faults.set([])
    server.control("flush", {"seed": 7})
    wait(lambda: len(inbox.events) == 20)
    assert inbox.said != sorted(inbox.said) and len(set(inbox.said)) == 20


def test_a_callback_that_is_not_taken_is_sent_again_under_its_id(
    rail: HttpRail, inbox: Inbox, server: MockServer, tmp_path: Path
) -> None:
    inbox.status = 503
    send_transfer(rail)
    wait(lambda: inbox.events)
    inbox.status = 200
    server.control("clock", {"advance": 10})
    wait(lambda: len(inbox.events) == 2)
    assert inbox.events[0].event_id == inbox.events[1].event_id
    wait(lambda: [line["status"] for line in journal_of(tmp_path / "journal", "callback")] == [503, 200])
    assert "811234567" not in json.dumps(journal_of(tmp_path / "journal"))
