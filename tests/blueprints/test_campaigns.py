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
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def test_campaign_reaches_each_holder_once_with_filled_texts(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA, FRIEDA, ELAGO, None, names=["Frieda Amupolo", "Frieda Amupolo", None, "Nobody"])
    campaign_event.sold("gone@example.com", status="refunded")
    made = data(campaign_event.broadcast(href="https://example.com/gates"), 202)
    assert made["status"] == "sending" and made["audience"]["total"] == 4
    found = campaign_event.finished(made["campaignId"])
    assert found["status"] == "sent"
    assert found["progress"] == {**NOTHING, "total": 2, "sent": 2}
    assert found["variants"] == {"A": found["progress"], "B": NOTHING}
    (mail,) = list_mails_to(FRIEDA)
    assert mail["subject"] == f"{campaign_event.event['name']}: see you soon"
    assert "Hello Frieda, you have 2 tickets." in mail["text"]
    (mail,) = list_mails_to(ELAGO)
    assert "Hello there, you have one ticket." in mail["text"]
    assert list_mails_to("gone@example.com") == []


def test_preview_shows_each_variant_as_the_caller_would_get_it(campaign_event: CampaignEvent) -> None:
    texts = {"title": "Doors open", "body": "See you, {firstName}.", "variantBTitle": "Come early"}
    campaign = campaign_event.draft(**texts, abTestEnabled=True, abSplitPercent=50)
    variants = data(campaign_event.owner.get(f"{campaign_event.one(campaign)}/preview"))["variants"]
    assert [variant["name"] for variant in variants] == ["A", "B"]
    assert [variant["email"]["subject"] for variant in variants] == ["Doors open", "Come early"]
    assert all("See you" in variant["email"]["text"] and "{" not in variant["sms"]["text"] for variant in variants)
    assert variants[1]["push"]["title"] == "Come early" and variants[0]["smsParts"] == 1
    assert list_mails_to(FRIEDA) == []


def test_only_organiser_and_admins_see_a_campaign(campaign_event: CampaignEvent, client: Client) -> None:
    campaign, other = campaign_event.draft(), create_organiser_client(client)
    for method, path in (
        ("POST", "/audience-preview"),
        ("GET", "/campaigns"),
        ("GET", "/templates"),
        ("GET", "/users/search?q=fr"),
        ("GET", f"/campaigns/{campaign}"),
        ("POST", f"/campaigns/{campaign}/cancel"),
        ("POST", f"/campaigns/{campaign}/duplicate"),
        ("GET", f"/campaigns/{campaign}/recipients"),
        ("GET", f"/campaigns/{campaign}/uncertain"),
        ("GET", f"/campaigns/{campaign}/preview"),
        ("GET", "/undelivered"),
        ("POST", f"/campaigns/{campaign}/resend-uncertain"),
    ):
        body = {} if method == "POST" else None
        assert read_error(other.open(method, campaign_event.path + path, body)) == (404, "NOT_FOUND"), path
        assert read_error(client.open(method, campaign_event.path + path, body))[0] == 401, path
        assert (
            read_error(
                create_signed_in_client(client, create_account()).open(method, campaign_event.path + path, body)
            )[0]
            == 403
        ), path
    assert read_error(other.post(f"{campaign_event.path}/broadcast", campaign_event.body())) == (404, "NOT_FOUND")
    assert read_error(other.post(f"{campaign_event.path}/test", {"title": "A", "body": "B"})) == (404, "NOT_FOUND")
    assert read_error(other.patch(campaign_event.one(campaign), {"title": "A"})) == (404, "NOT_FOUND")
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert data(analyst.get(campaign_event.one(campaign)))["status"] == "draft"
    assert read_error(analyst.patch(campaign_event.one(campaign), {"title": "A"}))[0] == 403
    there = campaign_event.one(campaign).replace(
        campaign_event.event["id"], CampaignEvent(client, owner=campaign_event.owner).event["id"]
    )
    assert read_error(campaign_event.owner.get(there)) == (404, "NOT_FOUND")


def test_draft_is_changed_scheduled_and_sent(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA)
    campaign = campaign_event.draft()
    first = campaign_event.owner.get(campaign_event.one(campaign))
    assert data(first)["status"] == "draft" and data(first)["version"] == 1
    changed = campaign_event.owner.patch(
        campaign_event.one(campaign), {"title": "The gates"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert data(changed)["title"] == "The gates" and changed.headers["ETag"] == '"2"'
    stale = campaign_event.owner.patch(
        campaign_event.one(campaign), {"title": "No"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert read_error(stale) == (412, "STALE_VERSION")
    later = data(campaign_event.owner.patch(campaign_event.one(campaign), {"scheduledAt": "2027-05-01T18:00:00"}))
    assert (later["status"], later["scheduledAt"]) == ("scheduled", "2027-05-01T16:00:00.000Z")
    run_jobs()
    assert list_mails_to(FRIEDA) == []
    assert data(campaign_event.owner.patch(campaign_event.one(campaign), {"name": "Doors"}))["status"] == "scheduled"
    assert data(campaign_event.owner.patch(campaign_event.one(campaign), {"scheduledAt": None}))["status"] == "draft"
    assert data(campaign_event.owner.patch(campaign_event.one(campaign), {"sendNow": True}))["status"] == "sending"
    found = campaign_event.finished(campaign)
    assert (found["status"], found["progress"]["sent"]) == ("sent", 1)
    (mail,) = list_mails_to(FRIEDA)
    assert mail["subject"] == "The gates"
    assert [item["verb"] for item in found["history"]] == [
        "drafted",
        "changed",
        "scheduled",
        "changed",
        "drafted",
        "sent",
    ]
    assert read_error(campaign_event.owner.patch(campaign_event.one(campaign), {"title": "No"})) == (
        409,
        "CAMPAIGN_FROZEN",
    )


def test_campaign_can_be_cancelled_until_sending_begins(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA)
    planned = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T18:00:00Z")
    for _ in range(2):
        assert data(campaign_event.owner.post(f"{campaign_event.one(planned)}/cancel"))["status"] == "canceled"
    assert fetch_sql_rows("SELECT state FROM outbox WHERE kind = 'campaigns.fan_out'") == [("canceled",)]
    begun = campaign_event.send()
    refused = campaign_event.owner.post(f"{campaign_event.one(begun)}/cancel")
    assert read_error(refused) == (409, "CAMPAIGN_STARTED") and refused.get_json()["data"]["status"] == "sending"
    campaign_event.finished(begun)
    assert read_error(campaign_event.owner.post(f"{campaign_event.one(begun)}/cancel")) == (409, "CAMPAIGN_STARTED")
    assert len(list_mails_to(FRIEDA)) == 1


def test_copy_is_a_draft_with_changed_fields(campaign_event: CampaignEvent) -> None:
    first = campaign_event.send(name="N" * 118, href="https://example.com/a")
    copy = data(
        campaign_event.owner.post(
            f"{campaign_event.one(first)}/duplicate", {"title": "Again", "channels": "email,sms"}
        ),
        201,
    )
    assert (copy["status"], copy["name"]) == ("draft", "N" * 113 + " (copy)")
    assert (copy["title"], copy["channels"], copy["href"]) == ("Again", ["email", "sms"], "https://example.com/a")
    assert copy["copiedFrom"] == first and copy["progress"] == NOTHING
    bare = data(campaign_event.owner.post(f"{campaign_event.one(first)}/duplicate"), 201)
    assert bare["title"] == "{eventName}: see you soon"
    sent = data(
        campaign_event.owner.post(f"{campaign_event.one(first)}/duplicate", {"sendNow": True, "name": "Now"}), 201
    )
    assert (sent["status"], sent["name"]) == ("sending", "Now")
    key = {"Idempotency-Key": "the same copy"}
    ids = {
        data(campaign_event.owner.post(f"{campaign_event.one(first)}/duplicate", {}, headers=key), 201)["id"]
        for _ in range(2)
    }
    assert len(ids) == 1


def test_list_has_figures_and_pages(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA)
    made = [campaign_event.draft(name=f"Draft {number}") for number in range(3)]
    sent = campaign_event.send()
    campaign_event.finished(sent)
    page = data(campaign_event.owner.get(f"{campaign_event.path}/campaigns?limit=3&withTotal=true"))
    assert [campaign["id"] for campaign in page["campaigns"]] == [sent, made[2], made[1]]
    assert page["campaigns"][0]["progress"]["sent"] == 1 and page["pagination"]["total"] == 4
    rest = data(
        campaign_event.owner.get(f"{campaign_event.path}/campaigns?limit=3&cursor={page['pagination']['nextCursor']}")
    )
    assert [campaign["id"] for campaign in rest["campaigns"]] == [made[0]]
    only = data(campaign_event.owner.get(f"{campaign_event.path}/campaigns?status=sent"))["campaigns"]
    assert [item["id"] for item in only] == [sent]


def test_every_template_but_the_blank_one_can_be_sent_unchanged(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA, names=["Frieda Amupolo"])
    found = data(campaign_event.owner.get(f"{campaign_event.path}/templates"))
    assert len(found["templates"]) == 8 and {"firstName", "venue"} <= {
        placeholder["name"] for placeholder in found["placeholders"]
    }
    for template in found["templates"]:
        if template["id"] == "blank":
            continue
        campaign_event.send(templateId=template["id"], title=template["title"], body=template["body"])
    texts = [mail["subject"] + mail["text"] for mail in list_mails_to(FRIEDA)]
    assert len(texts) == 7 and not any("{" in text for text in texts)


def test_test_message_goes_to_the_caller_and_is_marked(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(FRIEDA)
    body = {"title": "Doors of {eventName}", "body": "Hello {firstName}", "abTestEnabled": True, "variantBTitle": "B"}
    made = data(campaign_event.owner.post(f"{campaign_event.path}/test", body), 202)
    assert (made["channels"], made["messages"]) == (["email"], 2)
    assert {mail["subject"] for mail in list_mails_to(made["to"])} == {
        f"Test: Doors of {campaign_event.event['name']}",
        "Test: B",
    }
    assert list_mails_to(FRIEDA) == [] and fetch_sql_rows("SELECT id FROM campaign") == []
    refused = campaign_event.owner.post(f"{campaign_event.path}/test", {**body, "channels": ["sms"]})
    assert read_error(refused) == (409, "NO_WAY_TO_YOU")


def test_search_finds_only_people_of_the_event(campaign_event: CampaignEvent, client: Client) -> None:
    create_account(email=FRIEDA, name="Frieda's Real Name")
    create_account(email="friedrich@example.com", name="Friedrich Elsewhere")
    campaign_event.sold(FRIEDA, FRIEDA, "zoe@example.com", names=["Frieda Amupolo", "Frieda Amupolo", "Zoë Großmann"])
    (ticket,) = fetch_sql_rows("SELECT id FROM ticket WHERE email = 'zoe@example.com'")
    ((first,),) = fetch_sql_rows(f"SELECT min(id) FROM ticket WHERE email = '{FRIEDA}'")
    CampaignEvent(client).sold("frieda@other.example", names=["Frieda Other"])

    def search(q: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = data(
            campaign_event.owner.get(f"{campaign_event.path}/users/search", query_string={"q": q})
        )["users"]
        return found

    # The organiser sees what came with the tickets: neither that there is an account, nor its id or name.
    frieda = {"id": first, "name": "Frieda Amupolo", "email": "f•••@example.com", "participates": False, "tickets": 2}
    for q in ("frie", "FRIEDA am", "frieda@example", "amupolo"):
        assert search(q) == [frieda], q
    assert [item["id"] for item in search("grossm")] == [ticket[0]]
    assert search("friedrich") == [] and search("'; --") == []


def test_picture_is_stored(campaign_event: CampaignEvent, client: Client) -> None:
    def upload(who: Client) -> object:
        form = {"file": (io.BytesIO(picture()), "a.jpg")}
        return who.post(f"{campaign_event.path}/upload-image", data=form, content_type="multipart/form-data")

    made = data(upload(campaign_event.owner), 201)
    assert made["width"] == 60 and campaign_event.draft(imageUrl=made["url"], bannerUrl=made["url"])
    assert read_error(upload(create_organiser_client(client))) == (404, "NOT_FOUND")
