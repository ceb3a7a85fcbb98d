"""Campaigns: counting, sending, changing, looking."""

import io

from tests.ceiling.cases import Ask, case
from tests.core.test_images import picture
from tests.factories.accounts import list_mails_to
from tests.factories.campaigns import CampaignEvent
from tests.http import Client, data

ROOT = "/api/events/<id>/notifications"
ONE = f"{ROOT}/campaigns/<campaignId>"
ADDRESS = {"address": "gone@example.com"}
KEY = {"Idempotency-Key": "counted once and for all"}
PLANNED = {"sendNow": False, "scheduledAt": "2027-05-01T18:00:00"}


def crowd_of(client: Client, count: int = 3) -> CampaignEvent:
    campaign_event = CampaignEvent(client)
    campaign_event.sold(*(f"p{number}@example.com" for number in range(count)))
    return campaign_event


@case(f"POST {ROOT}/audience-preview")
def previewing_three_channels(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    return lambda: campaign_event.owner.post(
        f"{campaign_event.path}/audience-preview", {"channels": ["email", "sms", "push"]}
    )


@case(f"POST {ROOT}/broadcast", 202)
def broadcasting_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    return lambda: campaign_event.broadcast(headers=KEY)


@case(f"POST {ROOT}/broadcast", 202)
def planning_for_named_people_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    ids = campaign_event.sold("q@example.com")
    return lambda: campaign_event.broadcast(headers=KEY, audienceType="specific_users", userIds=ids, **PLANNED)


@case(f"GET {ROOT}/campaigns")
def the_list_of_campaigns_with_its_total(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign_event.finished(campaign_event.send())
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/campaigns?withTotal=true&status=sent")


@case(f"GET {ONE}")
def one_campaign(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.get(campaign_event.one(campaign))


@case(f"PATCH {ONE}")
def giving_a_campaign_another_time(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.send(**PLANNED)
    return lambda: campaign_event.owner.patch(
        campaign_event.one(campaign), {"scheduledAt": "2027-05-02T18:00:00", "title": "Later"}
    )


@case(f"POST {ONE}/cancel")
def calling_a_campaign_off_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.send(**PLANNED)
    return lambda: campaign_event.owner.post(f"{campaign_event.one(campaign)}/cancel", headers=KEY)


@case(f"POST {ONE}/duplicate", 201)
def sending_a_copy_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.post(
        f"{campaign_event.one(campaign)}/duplicate", {"sendNow": True}, headers=KEY
    )


@case(f"GET {ONE}/recipients")
def a_search_among_recipients_with_its_total(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.get(f"{campaign_event.one(campaign)}/recipients?withTotal=true&q=frieda")


@case(f"GET {ONE}/uncertain")
def the_uncertain_with_their_total(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.get(f"{campaign_event.one(campaign)}/uncertain?withTotal=true")


@case(f"POST {ONE}/resend-uncertain", 409)
def sending_nothing_again_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.post(f"{campaign_event.one(campaign)}/resend-uncertain", headers=KEY)


@case(f"GET {ONE}/preview")
def the_preview_of_a_campaign(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    campaign = campaign_event.draft()
    return lambda: campaign_event.owner.get(f"{campaign_event.one(campaign)}/preview")


@case(f"GET {ROOT}/undelivered")
def what_did_not_arrive_with_its_total(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/undelivered?withTotal=true&state=failed")


@case(f"GET {ROOT}/failed-mails")
def failed_mails_with_their_total(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/failed-mails?withTotal=true")


@case(f"POST {ROOT}/failed-mails/clear")
def taking_failed_mails_off_the_list(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    return lambda: campaign_event.owner.post(f"{campaign_event.path}/failed-mails/clear", {"ids": ["0" * 24]})


@case(f"GET {ROOT}/suppressions")
def the_suppression_list_with_its_total(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    data(campaign_event.owner.post(f"{campaign_event.path}/suppressions", ADDRESS))
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/suppressions?withTotal=true&q=gone")


@case(f"POST {ROOT}/suppressions")
def stopping_messages_to_an_address(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    return lambda: campaign_event.owner.post(f"{campaign_event.path}/suppressions", ADDRESS)


@case(f"POST {ROOT}/suppressions/remove")
def letting_messages_go_to_an_address_again(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    data(campaign_event.owner.post(f"{campaign_event.path}/suppressions", ADDRESS))
    entry = {"reason": "stopped", "channel": "all", **ADDRESS}
    return lambda: campaign_event.owner.post(f"{campaign_event.path}/suppressions/remove", entry)


@case(f"POST {ROOT}/test", 202)
def testing_two_variants_with_a_key(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    body = {"title": "A", "body": "B", "abTestEnabled": True, "variantBTitle": "C"}
    return lambda: campaign_event.owner.post(f"{campaign_event.path}/test", body, headers=KEY)


@case(f"GET {ROOT}/templates")
def the_templates(client: Client) -> Ask:
    campaign_event = CampaignEvent(client)
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/templates")


@case(f"POST {ROOT}/upload-image", 201)
def uploading_a_picture(client: Client) -> Ask:
    campaign_event, form = CampaignEvent(client), {"file": (io.BytesIO(picture()), "a.jpg")}
    return lambda: campaign_event.owner.post(
        f"{campaign_event.path}/upload-image", data=form, content_type="multipart/form-data"
    )


@case(f"GET {ROOT}/users/search")
def finding_people(client: Client) -> Ask:
    campaign_event = crowd_of(client)
    return lambda: campaign_event.owner.get(f"{campaign_event.path}/users/search?q=p1")


@case("GET /r/<token>", 302)
def following_a_link(client: Client) -> Ask:
    campaign_event = crowd_of(client, 1)
    campaign_event.finished(campaign_event.send(href="https://example.com/"))
    path = list_mails_to("p0@example.com")[0]["text"].split("http://localhost:8000")[1].split()[0]
    assert (
        data(campaign_event.owner.get(f"{campaign_event.path}/campaigns"))["campaigns"][0]["progress"]["clicked"] == 0
    )
    return lambda: client.flask.get(path, headers={"User-Agent": "Mozilla/5.0 Firefox/140.0"})
