"""Messages to many at the desk: who may, writing, previews, the numbers before sending, sending once, suppressions."""

from io import BytesIO
from time import process_time
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import Account
from app.campaigns.message_templates import TEMPLATES
from app.subscriptions.actions import unsubscribe as unsubscribe_by_link
from app.subscriptions.message_links import UnsubscribeTarget
from tests.campaigns.test_audience import execute, suppress, unsubscribe
from tests.counting import count_statements
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.applications import create_application
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.factories.events import create_published_event
from tests.http import Client
from tests.pages.desk.test_events import EVENTS, HOME, open_as
from tests.pages.desk.test_stalls import ROLES
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_apply_pictures import make_picture
from tests.pages.test_team_pages import create_owner

READERS, WRITERS = ("owner", "manager", "messages", "viewer"), ("owner", "manager", "messages")
TEXTS = {"name": "Gates", "title": "{eventName}: gates open at five", "body": "Hello {firstName}"}
FILLED: dict[str, Any] = {**TEXTS, "channels": ["email"], "roles": ["ticket_holders", "guests"]}
"""A form with everything that is required."""


@pytest.fixture
def campaign_event(client: Client, organiser: Client) -> CampaignEvent:
    return CampaignEvent(client, owner=organiser, name="Windhoek Lights")


def build_path(campaign_event: CampaignEvent, *parts: str) -> str:
    return "/".join((f"{EVENTS}/{campaign_event.event['id']}/messages", *parts))


def write(desk: Visitor, campaign_event: CampaignEvent, **fields: Any) -> Any:
    """The page after a draft was saved, or the form with its errors."""
    desk.open(build_path(campaign_event, "new"))
    return desk.send(form=1, **{**FILLED, **fields})


def newest(campaign_event: CampaignEvent) -> dict[str, Any]:
    ((id,),) = fetch_sql_rows("SELECT id FROM campaign ORDER BY created_at DESC LIMIT 1")
    return campaign_event.now(id)


def break_deliveries(state: str, reason: str = "no such mailbox") -> None:
    execute(
        "UPDATE campaign_recipient SET state = :state, reason = :reason, settled_at = now()", state=state, reason=reason
    )
    execute(f"UPDATE campaign_tally SET sent = 0, {state} = total")
    execute(
        "UPDATE outbox SET state = :state WHERE dedupe_key LIKE 'campaign-%'",
        state="uncertain" if state == "uncertain" else "dead",
    )


def test_a_photo_that_is_too_large_costs_no_typed_text(campaign_event: CampaignEvent, desk: Visitor) -> None:
    desk.open(build_path(campaign_event, "new"))
    page = desk.send(form=1, **FILLED, image=(BytesIO(b"\xff\xd8\xff" + bytes(12 * 1024 * 1024)), "photo.jpg"))
    assert page.status_code == 413 and "larger than 5 MB" in page.text and TEXTS["body"] in page.text


def test_a_form_that_is_sent_again_with_another_picture_is_another(
    desk: Visitor, campaign_event: CampaignEvent
) -> None:
    desk.open(build_path(campaign_event, "new"))
    pictures = [make_picture(kind) for kind in ("PNG", "PNG", "JPEG")]
    answers = [desk.press(form=1, **FILLED, image=(BytesIO(picture), "stage.png")) for picture in pictures]
    assert [answer.status_code for answer in answers] == [303, 303, 409]
    assert answers[0].location == answers[1].location and "You have sent this form already" in answers[2].text
    assert fetch_sql_rows("SELECT count(*) FROM campaign") == [(1,)]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_and_does_what_it_may(
    app: Flask, client: Client, owner: Account, campaign_event: CampaignEvent, role: str
) -> None:
    campaign_event.sold("frieda@example.com")
    draft = campaign_event.draft()
    visitor = open_as(app, client, owner, role)
    for path in (
        build_path(campaign_event),
        build_path(campaign_event, draft),
        build_path(campaign_event, draft, "mail", "A"),
    ):
        answer = visitor.open(path)
        assert answer.status_code == (200 if role in READERS else 403), path
        if role in READERS and "mail" not in path:
            assert ("Write a message" in answer.text or "Send now" in answer.text) == (role in WRITERS)
    pages = [("new",), ("undelivered",), ("failed-mails",), ("suppressions",), ("suppressions", "add")]
    pages += [(draft, verb) for verb in ("edit", "schedule", "send", "cancel", "resend")]
    for parts in pages:
        assert visitor.open(build_path(campaign_event, *parts)).status_code == (200 if role in WRITERS else 403), parts
    if role in WRITERS:
        return
    visitor.open(EVENTS)
    body = {"csrf_token": visitor.forms[0].fields["csrf_token"], "version": "1", "address": "a@example.com"}
    acts = [("new",), ("suppressions", "add"), ("suppressions", "remove")]
    acts += [(draft, verb) for verb in ("edit", "schedule", "send", "cancel", "resend", "test", "duplicate")]
    for parts in acts:
        assert visitor.flask.post(build_path(campaign_event, *parts), data=body).status_code == 403, parts
    assert campaign_event.now(draft)["status"] == "draft"


def test_messages_of_others_are_not_there(
    app: Flask, campaign_event: CampaignEvent, organiser: Client, desk: Visitor
) -> None:
    draft = campaign_event.draft()
    other = create_published_event(organiser, name="Desert Days")
    assert desk.open(f"{EVENTS}/{other['id']}/messages/{draft}").status_code == 404
    stranger = sign_in_browser(app, create_owner("Other"))
    for parts in ((), ("new",), ("undelivered",), ("suppressions",), (draft,), (draft, "send"), (draft, "recipients")):
        assert stranger.open(build_path(campaign_event, *parts)).status_code == 404, parts
    for parts in (("0" * 24,), ("x",), (draft, "mail", "C"), (draft, "nothing")):
        assert desk.open(build_path(campaign_event, *parts)).status_code == 404, parts


def test_a_member_for_one_event_does_not_see_the_list_of_the_organisation(
    app: Flask, client: Client, owner: Account, campaign_event: CampaignEvent
) -> None:
    visitor = open_as(app, client, owner, "messages", eventIds=[campaign_event.event["id"]])
    assert "Who gets no messages" not in visitor.open(build_path(campaign_event)).text
    page = visitor.open(build_path(campaign_event, "suppressions"))
    assert page.status_code == 403 and "Your account may not open this page. Ask the owner" in page.text


def test_a_message_is_written_looked_at_tested_and_sent_once(
    owner: Account, campaign_event: CampaignEvent, desk: Visitor
) -> None:
    campaign_event.sold("frieda@example.com", "frieda@example.com", "gone@example.com", "dead@example.com", None)
    unsubscribe("gone@example.com", campaign_event)
    suppress("email", "dead@example.com")
    page = write(desk, campaign_event)
    assert "The draft is saved" in page.text
    draft = newest(campaign_event)
    assert (draft["status"], draft["audienceType"], draft["audienceFilter"]) == ("draft", "event_ticket_holders", None)
    for text in ("1 person", "Unsubscribed, or switched the channel off: 1", "refuses all messages: 1"):
        assert text in page.text, text
    assert "Windhoek Lights: gates open at five" in page.text
    mail = desk.open(build_path(campaign_event, draft["id"], "mail", "A"))
    assert "Hello" in mail.text and "sandbox" in mail.headers["Content-Security-Policy"]
    desk.open(build_path(campaign_event, draft["id"]))
    assert f"The test goes to you ({owner.email})" in desk.send(form=1).text
    run_jobs()
    assert list_mails_to(owner.email)[0]["subject"].startswith("Test: Windhoek Lights")
    page = desk.open(build_path(campaign_event, draft["id"], "send"))
    assert "to 1 person?" in page.text and "You cannot take it back." in page.text
    form = desk.forms[1]
    page = desk.send(form=1)
    assert "Sending has started." in page.text and page.text.count("data-refresh-seconds") == 1
    again = desk.flask.post(form.action, data=form.fields, follow_redirects=True)
    assert again.status_code == 200 and "It was sent already" in again.text
    assert campaign_event.finished(draft["id"])["progress"]["sent"] == 1
    assert len(list_mails_to("frieda@example.com")) == 1
    page = desk.open(build_path(campaign_event, draft["id"])).text
    assert "Result" in page and "Send now" not in page and "data-refresh-seconds" not in page


def test_a_draft_a_test_and_a_copy_are_made_once_per_form(
    owner: Account, campaign_event: CampaignEvent, desk: Visitor
) -> None:
    desk.open(build_path(campaign_event, "new"))
    first, second = (desk.press(form=1, **FILLED).headers["Location"] for _ in range(2))
    assert first == second and fetch_sql_rows("SELECT count(*) FROM campaign") == [(1,)]
    desk.open(first)
    for _ in range(2):
        assert desk.press(form=1).status_code == 303
    run_jobs()
    assert len(list_mails_to(owner.email)) == 1
    assert desk.press(form=2).headers["Location"] == desk.press(form=2).headers["Location"]
    assert fetch_sql_rows("SELECT count(*) FROM campaign") == [(2,)]


def test_wrong_input_says_everything_at_once_and_keeps_what_was_typed(
    campaign_event: CampaignEvent, desk: Visitor
) -> None:
    wrong = {
        "title": "",
        "body": "Hello {firstname}",
        "href": "javascript:alert(1)",
        "channels": [],
        "abTestEnabled": "true",
        "abSplitPercent": "9" * 400,
        "roles": [],
    }
    page = write(desk, campaign_event, **wrong)
    assert page.status_code == 422
    for text in (
        "Enter a title.",
        "We do not know {firstname}. Did you mean {firstName}?",
        "Choose at least one channel.",
        "Choose who gets it.",
        "Enter another title, another text, or both.",
    ):
        assert text in page.text, text
    assert "Hello {firstname}" in page.text and "javascript:alert(1)" in page.text
    page = write(
        desk,
        campaign_event,
        body="Hello {firstname}, {colour}",
        title="{qqq}",
        abTestEnabled="true",
        variantBBody="{tint}",
    )
    assert page.text.count("We do not know {tint}.") == 2
    assert page.text.count("We do not know {colour}. Use a word from the list below the text.") == 2
    assert page.text.count("We do not know {qqq}.") == 2, "in the summary and at the field"
    began = process_time()
    page = write(desk, campaign_event, body="{{" * 100_000, variantBBody="{a b" * 50_000)
    assert page.status_code == 422 and process_time() - began < 5, "long texts are not searched for words"
    page = write(desk, campaign_event, body="x" * 601)
    assert "more than 600 characters" in page.text
    page = write(desk, campaign_event, roles=["stallholders"], admitted="true")
    assert page.status_code == 422 and "Choose ticket holders or guests too" in page.text
    for fields in ({"name": "\0"}, {"applicationStates": ["x"]}, {"languages": ["tlh"]}, {"templateId": "none"}):
        assert write(desk, campaign_event, **fields).status_code == 422, fields
    assert fetch_sql_rows("SELECT id FROM campaign") == []


def test_people_are_chosen_by_role_and_condition(campaign_event: CampaignEvent, desk: Visitor) -> None:
    campaign_event.sold("frieda@example.com")
    create_application(campaign_event.client, eventId=campaign_event.event["id"], email="stall@example.com")
    page = write(
        desk,
        campaign_event,
        roles=["applicants"],
        applicationStates=["submitted"],
        languages=["en"],
        channels=["email", "sms"],
    )
    draft = newest(campaign_event)
    assert draft["audienceFilter"]["roles"] == ["applicants"] and draft["audienceFilter"]["languages"] == ["en"]
    assert "Applications: To decide" in page.text and "Languages: English" in page.text
    assert " parts" in page.text or " part." in page.text
    desk.open(build_path(campaign_event, draft["id"], "edit"))
    desk.send(form=1, **FILLED, applicationStates=[], languages=[])
    assert newest(campaign_event)["audienceType"] == "event_ticket_holders"


def test_a_message_is_scheduled_changed_and_cancelled(campaign_event: CampaignEvent, desk: Visitor) -> None:
    campaign_event.sold("frieda@example.com")
    write(desk, campaign_event)
    draft = newest(campaign_event)["id"]
    desk.open(build_path(campaign_event, draft, "schedule"))
    assert "Choose a time in the future." in desk.send(form=1, scheduledAt="2020-01-01T10:00").text
    assert "The message is scheduled." in desk.send(form=1, scheduledAt="2027-05-01T18:00").text
    desk.open(build_path(campaign_event, draft, "edit"))
    stale = desk.forms[1]
    assert "The message is saved." in desk.send(form=1, **{**FILLED, "title": "Another title"}).text
    campaign = campaign_event.now(draft)
    assert (campaign["status"], campaign["title"]) == ("scheduled", "Another title")
    answer = desk.flask.post(
        stale.action, data={**stale.fields, **FILLED, "title": "Too late", "formKey": "form-of-another-tab"}
    )
    assert answer.status_code == 412 and "Open the page again" in answer.text
    desk.open(build_path(campaign_event, draft, "schedule"))
    assert "The message is a draft again." in desk.send(form=1, scheduledAt="").text
    desk.open(build_path(campaign_event, draft, "cancel"))
    assert "The message is cancelled." in desk.send(form=1).text
    assert campaign_event.now(draft)["status"] == "canceled"


@pytest.mark.parametrize(
    "status, text",
    [("sending", "The message is being sent."), ("sent", "The message was sent."), ("canceled", "Copy it if you want")],
)
def test_the_forms_of_a_closed_message_are_not_shown(
    campaign_event: CampaignEvent, desk: Visitor, status: str, text: str
) -> None:
    write(desk, campaign_event)
    draft = newest(campaign_event)["id"]
    execute("UPDATE campaign SET status = :status", status=status)
    for name in ("edit", "schedule", "send", "cancel"):
        answer = desk.open(build_path(campaign_event, draft, name))
        assert answer.status_code == 303 and answer.location == build_path(campaign_event, draft), name
        assert text in desk.open(answer.location).text
    desk.open(build_path(campaign_event, draft))
    assert "This is the copy, a draft." in desk.send(form=1).text


def test_variants_stand_side_by_side(campaign_event: CampaignEvent, desk: Visitor) -> None:
    campaign_event.sold(*(f"guest{number}@example.com" for number in range(12)))
    page = write(desk, campaign_event, abTestEnabled="true", variantBTitle="Another title", abSplitPercent="50")
    assert "Variant A" in page.text and "Variant B" in page.text and "for 50 %" in page.text
    id = newest(campaign_event)["id"]
    assert "Another title" in desk.open(build_path(campaign_event, id, "mail", "B")).text
    desk.open(build_path(campaign_event, id, "send"))
    desk.send(form=1)
    campaign_event.finished(id)
    page = desk.open(build_path(campaign_event, id)).text
    assert "The variants compared" in page and "Clicks per 100 sent" in page


def test_what_did_not_arrive_is_a_task_and_uncertain_messages_go_out_again(
    campaign_event: CampaignEvent, desk: Visitor
) -> None:
    campaign_event.sold("frieda@example.com", "john@example.com")
    id = campaign_event.send()
    campaign_event.finished(id)
    assert "messages did not arrive" not in desk.open(HOME).text
    break_deliveries("uncertain")
    assert "2 messages did not arrive" in desk.open(HOME).text
    page = desk.open(f"{build_path(campaign_event, 'undelivered')}?campaignId={id}")
    assert "frieda@example.com" in page.text and "no such mailbox" in page.text
    assert "john@example.com" in desk.open(f"{build_path(campaign_event, 'undelivered')}?format=csv").text
    assert "Nothing matches" in desk.open(f"{build_path(campaign_event, 'undelivered')}?state=failed").text
    page = desk.open(build_path(campaign_event, id, "resend"))
    assert "all 2 uncertain messages" in page.text and "get the message twice" in page.text
    form = desk.forms[1]
    assert "Sent again: 2." in desk.send(form=1).text
    again = desk.flask.post(form.action, data=form.fields)
    assert again.status_code == 409 and "None of these messages is uncertain any more" in again.text


def test_the_suppression_list_says_who_why_and_lets_back_who_may(campaign_event: CampaignEvent, desk: Visitor) -> None:
    campaign_event.sold("dead@example.com")
    campaign_event.finished(campaign_event.send())
    break_deliveries("failed")
    suppress("email", "dead@example.com")
    suppress("email", "of-others@example.com")
    unsubscribe("gone@example.com", campaign_event)
    path = build_path(campaign_event, "suppressions")
    page = desk.open(path).text
    assert "dead@example.com" in page and "gone@example.com" in page and "of-others" not in page
    desk.open(f"{path}/add")
    assert "Enter an e-mail address" in desk.send(form=1, address="nobody").text
    assert "gets no more messages" in desk.send(form=1, address="Stop@Example.com").text
    assert campaign_event.preview()["people"] == 0
    for reason, channel, address in (("stopped", "all", "stop@example.com"), ("bounced", "email", "dead@example.com")):
        desk.open(f"{path}/remove?reason={reason}&channel={channel}&address={address}")
        assert "can get messages again" in desk.send(form=1).text
        assert address not in desk.open(path).text
    refused = f"{path}/remove?reason=unsubscribed&channel=all&address=gone@example.com"
    assert desk.open(refused).status_code == 404
    assert desk.open(f"{path}?q=gone").text.count("gone@example.com") == 1
    assert campaign_event.preview()["people"] == 1


def test_a_person_who_unsubscribes_themselves_cannot_be_let_back(campaign_event: CampaignEvent, desk: Visitor) -> None:
    path = build_path(campaign_event, "suppressions")
    desk.open(f"{path}/add")
    desk.send(form=1, address="frieda@example.com")
    ((organiser_id,),) = fetch_sql_rows("SELECT organiser_id FROM unsubscribe")
    unsubscribe_by_link(UnsubscribeTarget("frieda@example.com", organiser_id))
    desk.open(f"{path}/remove?reason=stopped&channel=all&address=frieda@example.com")
    assert desk.send(form=1).status_code == 404
    assert "Unsubscribed" in desk.open(path).text


def test_pages_take_few_statements(campaign_event: CampaignEvent, desk: Visitor) -> None:
    campaign_event.sold("frieda@example.com")
    for _ in range(3):
        id = campaign_event.draft()
    for parts, most in (
        ((), 9),
        ((id,), 14),
        ((id, "recipients"), 12),
        (("suppressions",), 9),
        (("undelivered",), 9),
        (("failed-mails",), 9),
    ):
        _, statements = count_statements(lambda parts=parts: desk.flask.get(build_path(campaign_event, *parts)))
        assert len(statements) <= most, (parts, statements)


def test_a_text_that_is_still_the_template_is_a_draft_and_cannot_be_sent(
    campaign_event: CampaignEvent, desk: Visitor
) -> None:
    campaign_event.sold("frieda@example.com")
    page = write(desk, campaign_event, body=TEMPLATES["blank"].body)
    assert "The draft is saved" in page.text and "This message cannot be sent yet" in page.text
    assert "Send now" not in page.text and ">Schedule<" not in page.text
    draft = newest(campaign_event)["id"]
    page = desk.open(build_path(campaign_event, draft, "send"))
    assert "“Gates” cannot be sent yet" in page.text and "Send it now" not in page.text
    body = {"csrf_token": desk.forms[0].fields["csrf_token"], "version": "1"}
    answer = desk.flask.post(build_path(campaign_event, draft, "send"), data=body)
    assert answer.status_code == 422 and "There is still a line with only “…”" in answer.text
    desk.open(build_path(campaign_event, draft, "schedule"))
    page = desk.send(form=1, scheduledAt="2027-05-01T10:00")
    assert page.status_code == 422 and "There is still a line with only “…”" in page.text
    assert campaign_event.now(draft)["status"] == "draft"
    desk.open(build_path(campaign_event, draft, "edit"))
    assert "Send now" in desk.send(form=1, body="Hello {firstName}, the gates open … at five").text


def test_a_scheduled_message_keeps_a_text(campaign_event: CampaignEvent, desk: Visitor) -> None:
    scheduled = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T10:00:00Z")
    desk.open(build_path(campaign_event, scheduled, "edit"))
    page = desk.send(form=1, body="Hello\n\n…\n")
    assert page.status_code == 422 and "Text: There is still a line with only “…”" in page.text
