"""Campaigns of organisers."""

import io

import pytest

from tests.core.test_images import picture
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.factories.events import create_organiser_client
from tests.http import Client, data, read_error

FRIEDA, ELAGO = "frieda@example.com", "elago@example.com"
NOTHING = {"total": 0, "sent": 0, "failed": 0, "suppressed": 0, "uncertain": 0, "pending": 0, "clicked": 0}


@pytest.fixture
def crowd(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def test_campaign_reaches_each_holder_once_with_filled_texts(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA, FRIEDA, ELAGO, None, names=["Frieda Amupolo", "Frieda Amupolo", None, "Nobody"])
    crowd.sold("gone@example.com", status="refunded")
    made = data(crowd.broadcast(href="https://example.com/gates"), 202)
    assert made["status"] == "sending" and made["audience"]["total"] == 4
    found = crowd.finished(made["campaignId"])
    assert found["status"] == "sent"
    assert found["progress"] == {**NOTHING, "total": 2, "sent": 2}
    assert found["variants"] == {"A": found["progress"], "B": NOTHING}
    (mail,) = list_mails_to(FRIEDA)
    assert mail["subject"] == f"{crowd.event['name']}: see you soon"
    assert "Hello Frieda, you have 2 tickets." in mail["text"]
    (mail,) = list_mails_to(ELAGO)
    assert "Hello there, you have one ticket." in mail["text"]
    assert list_mails_to("gone@example.com") == []


def test_only_organiser_and_admins_see_a_campaign(crowd: CampaignEvent, client: Client) -> None:
    campaign, other = crowd.draft(), create_organiser_client(client)
    for method, path in (
        ("POST", "/audience-preview"),
        ("GET", "/campaigns"),
        ("GET", "/templates"),
        ("GET", "/users/search?q=fr"),
        ("GET", f"/campaigns/{campaign}"),
        ("POST", f"/campaigns/{campaign}/cancel"),
        ("POST", f"/campaigns/{campaign}/duplicate"),
        ("GET", f"/campaigns/{campaign}/uncertain"),
        ("POST", f"/campaigns/{campaign}/resend-uncertain"),
    ):
        body = {} if method == "POST" else None
        assert read_error(other.open(method, crowd.path + path, body)) == (404, "NOT_FOUND"), path
        assert read_error(client.open(method, crowd.path + path, body))[0] == 401, path
        assert (
            read_error(create_signed_in_client(client, create_account()).open(method, crowd.path + path, body))[0]
            == 403
        ), path
    assert read_error(other.post(f"{crowd.path}/broadcast", crowd.body())) == (404, "NOT_FOUND")
    assert read_error(other.post(f"{crowd.path}/test", {"title": "A", "body": "B"})) == (404, "NOT_FOUND")
    assert read_error(other.patch(crowd.one(campaign), {"title": "A"})) == (404, "NOT_FOUND")
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert data(analyst.get(crowd.one(campaign)))["status"] == "draft"
    assert read_error(analyst.patch(crowd.one(campaign), {"title": "A"}))[0] == 403
    there = crowd.one(campaign).replace(crowd.event["id"], CampaignEvent(client, owner=crowd.owner).event["id"])
    assert read_error(crowd.owner.get(there)) == (404, "NOT_FOUND")


def test_draft_is_changed_scheduled_and_sent(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA)
    campaign = crowd.draft()
    first = crowd.owner.get(crowd.one(campaign))
    assert data(first)["status"] == "draft" and data(first)["version"] == 1
    changed = crowd.owner.patch(
        crowd.one(campaign), {"title": "The gates"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert data(changed)["title"] == "The gates" and changed.headers["ETag"] == '"2"'
    stale = crowd.owner.patch(crowd.one(campaign), {"title": "No"}, headers={"If-Match": first.headers["ETag"]})
    assert read_error(stale) == (412, "STALE_VERSION")
    later = data(crowd.owner.patch(crowd.one(campaign), {"scheduledAt": "2027-05-01T18:00:00"}))
    assert (later["status"], later["scheduledAt"]) == ("scheduled", "2027-05-01T16:00:00.000Z")
    run_jobs()
    assert list_mails_to(FRIEDA) == []
    assert data(crowd.owner.patch(crowd.one(campaign), {"name": "Doors"}))["status"] == "scheduled"
    assert data(crowd.owner.patch(crowd.one(campaign), {"scheduledAt": None}))["status"] == "draft"
    assert data(crowd.owner.patch(crowd.one(campaign), {"sendNow": True}))["status"] == "sending"
    found = crowd.finished(campaign)
    assert (found["status"], found["progress"]["sent"]) == ("sent", 1)
    (mail,) = list_mails_to(FRIEDA)
    assert mail["subject"] == "The gates"
    assert [item["verb"] for item in found["history"]] == ["drafted", *["changed"] * 5]
    assert read_error(crowd.owner.patch(crowd.one(campaign), {"title": "No"})) == (409, "CAMPAIGN_FROZEN")


def test_campaign_can_be_cancelled_until_sending_begins(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA)
    planned = crowd.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    for _ in range(2):
        assert data(crowd.owner.post(f"{crowd.one(planned)}/cancel"))["status"] == "canceled"
    assert fetch_sql_rows("SELECT state FROM outbox WHERE kind = 'campaigns.fan_out'") == [("canceled",)]
    begun = crowd.send()
    refused = crowd.owner.post(f"{crowd.one(begun)}/cancel")
    assert read_error(refused) == (409, "CAMPAIGN_STARTED") and refused.get_json()["data"]["status"] == "sending"
    crowd.finished(begun)
    assert read_error(crowd.owner.post(f"{crowd.one(begun)}/cancel")) == (409, "CAMPAIGN_STARTED")
    assert len(list_mails_to(FRIEDA)) == 1


def test_copy_is_a_draft_with_changed_fields(crowd: CampaignEvent) -> None:
    first = crowd.send(name="N" * 118, href="https://example.com/a")
    copy = data(crowd.owner.post(f"{crowd.one(first)}/duplicate", {"title": "Again", "channels": "email,sms"}), 201)
    assert (copy["status"], copy["name"]) == ("draft", "N" * 113 + " (copy)")
    assert (copy["title"], copy["channels"], copy["href"]) == ("Again", ["email", "sms"], "https://example.com/a")
    assert copy["copiedFrom"] == first and copy["progress"] == NOTHING
    bare = data(crowd.owner.post(f"{crowd.one(first)}/duplicate"), 201)
    assert bare["title"] == "{eventName}: see you soon"
    sent = data(crowd.owner.post(f"{crowd.one(first)}/duplicate", {"sendNow": True, "name": "Now"}), 201)
    assert (sent["status"], sent["name"]) == ("sending", "Now")
    key = {"Idempotency-Key": "the same copy"}
    ids = {data(crowd.owner.post(f"{crowd.one(first)}/duplicate", {}, headers=key), 201)["id"] for _ in range(2)}
    assert len(ids) == 1


def test_list_has_figures_and_pages(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA)
    made = [crowd.draft(name=f"Draft {number}") for number in range(3)]
    sent = crowd.send()
    crowd.finished(sent)
    page = data(crowd.owner.get(f"{crowd.path}/campaigns?limit=3&withTotal=true"))
    assert [campaign["id"] for campaign in page["campaigns"]] == [sent, made[2], made[1]]
    assert page["campaigns"][0]["progress"]["sent"] == 1 and page["pagination"]["total"] == 4
    rest = data(crowd.owner.get(f"{crowd.path}/campaigns?limit=3&cursor={page['pagination']['nextCursor']}"))
    assert [campaign["id"] for campaign in rest["campaigns"]] == [made[0]]
    only = data(crowd.owner.get(f"{crowd.path}/campaigns?status=sent"))["campaigns"]
    assert [item["id"] for item in only] == [sent]


def test_every_template_can_be_sent_unchanged(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA, names=["Frieda Amupolo"])
    found = data(crowd.owner.get(f"{crowd.path}/templates"))
    assert len(found["templates"]) == 6 and {"firstName", "venue"} <= {
        placeholder["name"] for placeholder in found["placeholders"]
    }
    for template in found["templates"]:
        crowd.send(templateId=template["id"], title=template["title"], body=template["body"])
    texts = [mail["subject"] + mail["text"] for mail in list_mails_to(FRIEDA)]
    assert len(texts) == 6 and not any("{" in text for text in texts)


def test_test_message_goes_to_the_caller_and_is_marked(crowd: CampaignEvent) -> None:
    crowd.sold(FRIEDA)
    body = {"title": "Doors of {eventName}", "body": "Hello {firstName}", "abTestEnabled": True, "variantBTitle": "B"}
    made = data(crowd.owner.post(f"{crowd.path}/test", body), 202)
    assert (made["channels"], made["messages"]) == (["email"], 2)
    assert {mail["subject"] for mail in list_mails_to(made["to"])} == {
        f"Test: Doors of {crowd.event['name']}",
        "Test: B",
    }
    assert list_mails_to(FRIEDA) == [] and fetch_sql_rows("SELECT id FROM campaign") == []
    refused = crowd.owner.post(f"{crowd.path}/test", {**body, "channels": ["sms"]})
    assert read_error(refused) == (409, "NO_WAY_TO_YOU")


def test_search_finds_only_people_of_the_event(crowd: CampaignEvent, client: Client) -> None:
    create_account(email=FRIEDA, name="Frieda's Real Name")
    create_account(email="friedrich@example.com", name="Friedrich Elsewhere")
    crowd.sold(FRIEDA, FRIEDA, "zoe@example.com", names=["Frieda Amupolo", "Frieda Amupolo", "Zoë Großmann"])
    (ticket,) = fetch_sql_rows("SELECT id FROM ticket WHERE email = 'zoe@example.com'")
    ((first,),) = fetch_sql_rows(f"SELECT min(id) FROM ticket WHERE email = '{FRIEDA}'")
    CampaignEvent(client).sold("frieda@other.example", names=["Frieda Other"])

    def search(q: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = data(crowd.owner.get(f"{crowd.path}/users/search", query_string={"q": q}))[
            "users"
        ]
        return found

    # The organiser sees what came with the tickets: neither that there is an account, nor its id or name.
    frieda = {"id": first, "name": "Frieda Amupolo", "email": "f•••@example.com", "participates": False, "tickets": 2}
    for q in ("frie", "FRIEDA am", "frieda@example", "amupolo"):
        assert search(q) == [frieda], q
    assert [item["id"] for item in search("grossm")] == [ticket[0]]
    assert search("friedrich") == [] and search("'; --") == []


def test_picture_is_stored(crowd: CampaignEvent, client: Client) -> None:
    def upload(who: Client) -> object:
        form = {"file": (io.BytesIO(picture()), "a.jpg")}
        return who.post(f"{crowd.path}/upload-image", data=form, content_type="multipart/form-data")

    made = data(upload(crowd.owner), 201)
    assert made["width"] == 60 and crowd.draft(imageUrl=made["url"], bannerUrl=made["url"])
    assert read_error(upload(create_organiser_client(client))) == (404, "NOT_FOUND")
