"""Campaigns as an organiser sees them."""

from typing import Any

import pytest

from tests.factories.accounts import account, mails_to, signed_in
from tests.factories.campaigns import Crowd, rows
from tests.factories.events import organiser
from tests.http import Client, data, problems, refusal

FRIEDA, ELAGO = "frieda@example.com", "elago@example.com"


@pytest.fixture
def crowd(client: Client) -> Crowd:
    return Crowd(client)


def test_a_campaign_reaches_each_holder_once_with_all_that_was_filled_in(crowd: Crowd) -> None:
    crowd.sold(FRIEDA, FRIEDA, ELAGO, None, names=["Frieda Amupolo", "Frieda Amupolo", None, "Nobody"])
    crowd.sold("gone@example.com", status="refunded")
    made = data(crowd.broadcast(href="https://example.com/gates"), 202)
    assert made["status"] == "sending" and made["audience"]["total"] == 4
    found = crowd.finished(made["campaignId"])
    assert found["status"] == "sent"
    assert found["progress"] == {
        "total": 2, "sent": 2, "failed": 0, "suppressed": 0, "uncertain": 0, "pending": 0, "clicked": 0
    }  # fmt: skip
    (mail,) = mails_to(FRIEDA)
    assert mail["subject"] == f"{crowd.event['name']}: see you soon"
    assert "Hello Frieda, you have 2 tickets." in mail["text"]
    (mail,) = mails_to(ELAGO)
    assert "Hello there, you have one ticket." in mail["text"]
    assert mails_to("gone@example.com") == []


def test_the_preview_says_what_is_sent(crowd: Crowd) -> None:
    crowd.sold(FRIEDA, FRIEDA, ELAGO, None, names=["Frieda Amupolo", "Frieda Amupolo", None, "Nobody"])
    found = crowd.preview()
    assert found["total"] == 4 and found["people"] == 2
    assert found["reachable"] == {"email": 2, "sms": 0, "push": 0}
    assert found["excluded"] == {"optedOut": 0, "noAddress": 1, "suppressed": 0, "duplicate": 1, "notRelated": 0}
    assert found["variants"] == {"A": 2, "B": 0}
    assert {each["email"] for each in found["sample"]} == {"f***@example.com", "e***@example.com"}
    assert data(crowd.broadcast(), 202)["audience"] == {name: found[name] for name in found if name != "sample"}
