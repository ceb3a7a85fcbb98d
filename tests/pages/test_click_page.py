"""Links of messages: they lead where the organiser has said, and count people."""

import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.factories.accounts import list_mails_to
from tests.factories.campaigns import CampaignEvent
from tests.http import Client

FRIEDA = "frieda@example.com"
BROWSER = {"User-Agent": "Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"}


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    campaign_event = CampaignEvent(client)
    campaign_event.sold(FRIEDA)
    return campaign_event


def link(campaign_event: CampaignEvent, href: str) -> tuple[str, str]:
    """A campaign that was sent, and the path of its link."""
    campaign = campaign_event.send(href=href)
    campaign_event.finished(campaign)
    found = re.search(r"http://localhost:8000(/r/\S+)", list_mails_to(FRIEDA)[0]["text"])
    assert found
    return campaign, found[1]


def clicked(campaign_event: CampaignEvent, campaign: str) -> int:
    return int(campaign_event.now(campaign)["variants"]["A"]["clicked"])


def follow(app: Flask, path: str, method: str = "GET", **headers: str) -> TestResponse:
    return app.test_client().open(path, method=method, headers={**BROWSER, **headers})


def test_a_click_counts_once_and_leads_on(app: Flask, campaign_event: CampaignEvent) -> None:
    campaign, path = link(campaign_event, "https://example.com/gates?day=2#map")
    for _ in range(3):
        answer = follow(app, path)
        assert (answer.status_code, answer.location) == (302, "https://example.com/gates?day=2#map")
        assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"
    assert clicked(campaign_event, campaign) == 1


def test_machines_are_led_on_and_not_counted(app: Flask, campaign_event: CampaignEvent) -> None:
    campaign, path = link(campaign_event, "/events/lights")
    answers = [
        follow(app, path, "HEAD"),
        follow(app, path, **{"Sec-Purpose": "prefetch"}),
        follow(app, path, **{"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}),
        follow(app, path, **{"User-Agent": "curl/8"}),
    ]
    assert {(response.status_code, response.location) for response in answers} == {
        (302, "http://localhost:8000/events/lights")
    }
    assert clicked(campaign_event, campaign) == 0
    follow(app, path)
    assert clicked(campaign_event, campaign) == 1


def test_no_link_leads_anywhere_else(app: Flask, campaign_event: CampaignEvent) -> None:
    campaign, path = link(campaign_event, "https://example.com/")
    token = path.rpartition("/")[2]
    for wrong in (
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        token.replace(".0.", ".1."),
        "x",
        "0" * 24,
        f"{token}?to=https://evil.example",
        f"{token}/https://evil.example",
    ):
        answer = follow(app, f"/r/{wrong}")
        assert answer.location in (None, "https://example.com/")
        assert answer.status_code == (302 if "?" in wrong else 404), wrong
    assert clicked(campaign_event, campaign) == 1
    assert b"<html" in follow(app, "/r/nothing").data
