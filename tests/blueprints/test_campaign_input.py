"""Validation of campaigns."""

from typing import Any

import pytest

from app.campaigns.message_templates import TEMPLATES
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.http import Client, data, list_problems


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "N"}, "name", "too_short"),
    ({"name": "A\r\nB"}, "name", "invalid_characters"),
    ({"templateId": "reminder"}, "templateId", "unknown_value"),
    ({"title": ""}, "title", "too_short"),
    ({"title": "x" * 161}, "title", "too_long"),
    ({"title": "Doors\r\nBcc: all@example.com"}, "title", "invalid_characters"),
    ({"title": "Doors\nBcc: all@example.com"}, "title", "invalid_characters"),
    ({"title": "Doors\u2028open"}, "title", "invalid_characters"),
    ({"title": "Hello {fistName}"}, "title", "unknown_placeholder"),
    ({"body": "x" * 601}, "body", "too_long"),
    ({"body": "Hello {user.password}, {firstname}"}, "body", "unknown_placeholder"),
    ({"href": "javascript:alert(1)"}, "href", "invalid_url"),
    ({"href": "java\tscript:alert(1)"}, "href", "invalid_url"),
    ({"href": "http://example.com/"}, "href", "invalid_url"),
    ({"href": "//evil.example"}, "href", "invalid_url"),
    ({"href": "/%2f%2fevil.example"}, "href", "invalid_url"),
    ({"href": "https://good.example@evil.example/"}, "href", "invalid_url"),
    ({"href": "mailto:frieda@example.com"}, "href", "invalid_url"),
    ({"href": "https://example.com/" + "x" * 300}, "href", "too_long"),
    ({"imageUrl": "http://example.com/a.jpg"}, "imageUrl", "invalid_url"),
    ({"bannerUrl": "data:image/png;base64,AAAA"}, "bannerUrl", "invalid_url"),
    ({"channels": []}, "channels", "too_short"),
    ({"channels": "fax"}, "channels[0]", "unknown_value"),
    ({"abTestEnabled": True}, "variantBTitle", "required"),
    ({"abTestEnabled": True, "variantBTitle": "{nobody}"}, "variantBTitle", "unknown_placeholder"),
    ({"abSplitPercent": 9.5}, "abSplitPercent", "too_small"),
    ({"abSplitPercent": 91}, "abSplitPercent", "too_large"),
    ({"sendNow": True, "scheduledAt": "2027-05-01T10:00:00Z"}, "scheduledAt", "conflicting"),
    ({"scheduledAt": "2020-05-01T10:00:00Z"}, "scheduledAt", "too_small"),
    ({"scheduledAt": "2020-05-01T10:00:00"}, "scheduledAt", "too_small"),
    ({"scheduledAt": "2030-05-01T10:00:00"}, "scheduledAt", "too_large"),
    ({"scheduledAt": "tomorrow"}, "scheduledAt", "invalid_time"),
    ({"audienceType": "everybody"}, "audienceType", "unknown_value"),
    ({"audienceType": "specific_users"}, "userIds", "required"),
    ({"userIds": ["6565a1f0c3d2e1b0a9f8e7d6"]}, "userIds", "conflicting"),
    ({"audienceType": "specific_users", "userIds": "a,b"}, "userIds[0]", "invalid_id"),
    ({"audienceType": "specific_users", "userIds": ["6565a1f0c3d2e1b0a9f8e7d6"] * 501}, "userIds", "too_long"),
    ({"respectPreferences": "yes"}, "respectPreferences", "invalid_type"),
    ({"chanels": ["email"]}, "chanels", "unknown_field"),
]


@pytest.mark.parametrize(("fields", "path", "code"), REFUSED)
def test_invalid_field_is_reported(campaign_event: CampaignEvent, fields: dict[str, Any], path: str, code: str) -> None:
    found = list_problems(campaign_event.broadcast(**{"sendNow": False, **fields}))
    assert found.get(path) == code, found


def test_all_problems_are_reported_with_hints(campaign_event: CampaignEvent) -> None:
    answer = campaign_event.broadcast(
        title="Hello {fistName} at {venu}",
        href="javascript:1",
        channels=["fax"],
        templateId="blanc",
        abTestEnabled=True,
    )
    assert set(list_problems(answer)) == {"title", "href", "channels[0]", "templateId", "variantBTitle"}
    said = " ".join(error["message"] for error in answer.get_json()["data"]["errors"])
    assert "{fistName}" in said and "{firstName}" in said and "{venue}" in said and "Did you mean blank?" in said


def test_required_fields(campaign_event: CampaignEvent) -> None:
    found = list_problems(campaign_event.owner.post(f"{campaign_event.path}/broadcast", {}))
    assert found == dict.fromkeys(
        ("name", "templateId", "title", "body", "channels", "sendNow", "audienceType", "respectPreferences"), "required"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"channels": "email"},
        {"channels": "email, push"},
        {"channels": ["sms", "sms", "email"]},
        {"href": "/events/lights?day=2#map", "imageUrl": "https://example.com/a.jpg", "bannerUrl": ""},
        {"href": "", "variantBTitle": "", "variantBBody": None},
        {"title": "50 % off? {{7*7}} { {eventName} }", "body": "{{firstName}} {\n}"},
        {"abSplitPercent": 33.33, "abTestEnabled": True, "variantBBody": "Other"},
        {"audienceType": "specific_users", "userIds": "6565a1f0c3d2e1b0a9f8e7d6,6565a1f0c3d2e1b0a9f8e7d6"},
        {"scheduledAt": "2027-05-01"},
    ],
)
def test_valid_fields_are_accepted(campaign_event: CampaignEvent, fields: dict[str, Any]) -> None:
    assert data(campaign_event.broadcast(**{"sendNow": False, **fields}), 202)["status"] in ("draft", "scheduled")


UNFILLED = TEMPLATES["blank"].body
SCHEDULED = {"sendNow": False, "scheduledAt": "2027-05-01T10:00:00Z"}


@pytest.mark.parametrize("moment", [{"sendNow": True}, SCHEDULED])
@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"body": UNFILLED}, ["body"]),
        ({"title": "…", "body": UNFILLED}, ["title", "body"]),
        ({"abTestEnabled": True, "variantBBody": UNFILLED}, ["variantBBody"]),
    ],
)
def test_unfilled_text_is_neither_sent_nor_scheduled(
    campaign_event: CampaignEvent, moment: dict[str, Any], fields: dict[str, Any], paths: list[str]
) -> None:
    assert list_problems(campaign_event.broadcast(**fields, **moment)) == dict.fromkeys(paths, "unfilled")
    assert fetch_sql_rows("SELECT count(*) FROM campaign") == [(0,)]
    draft = campaign_event.draft(**fields)
    path = f"{campaign_event.path}/campaigns/{draft}"
    for answer in (campaign_event.owner.patch(path, moment), campaign_event.owner.post(f"{path}/duplicate", moment)):
        assert sorted(list_problems(answer).values()) == ["unfilled"] * len(paths)
    assert campaign_event.now(draft)["status"] == "draft"
    assert fetch_sql_rows("SELECT count(*) FROM outbox WHERE kind LIKE 'campaigns.%'") == [(0,)]


def test_text_of_a_scheduled_message_stays_filled(campaign_event: CampaignEvent) -> None:
    path = f"{campaign_event.path}/campaigns/{campaign_event.send(**SCHEDULED)}"
    assert list_problems(campaign_event.owner.patch(path, {"body": UNFILLED})) == {"body": "unfilled"}
    assert data(campaign_event.owner.patch(path, {"body": UNFILLED, "scheduledAt": None}))["status"] == "draft"


def test_variant_that_is_not_sent_may_be_unfilled(campaign_event: CampaignEvent) -> None:
    campaign_event.send(abTestEnabled=False, variantBBody=UNFILLED)


def test_ellipsis_in_a_sentence_is_sent(campaign_event: CampaignEvent) -> None:
    campaign_event.send(title="And now …", body="Hello …\n… the gates are open")
