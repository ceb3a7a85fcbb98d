"""Campaigns: counting, sending, changing, looking."""

import io

from tests.ceiling.cases import Ask, case
from tests.core.test_images import picture
from tests.factories.accounts import list_mails_to
from tests.factories.campaigns import CampaignEvent
from tests.http import Client, data

ROOT = "/api/events/<id>/notifications"
ONE = f"{ROOT}/campaigns/<campaignId>"
KEY = {"Idempotency-Key": "counted once and for all"}
PLANNED = {"sendNow": False, "scheduledAt": "2027-05-01T18:00:00"}


def crowd_of(client: Client, count: int = 3) -> CampaignEvent:
    crowd = CampaignEvent(client)
    crowd.sold(*(f"p{number}@example.com" for number in range(count)))
    return crowd


@case(f"POST {ROOT}/audience-preview")
def previewing_three_channels(client: Client) -> Ask:
    crowd = crowd_of(client)
    return lambda: crowd.owner.post(f"{crowd.path}/audience-preview", {"channels": ["email", "sms", "push"]})


@case(f"POST {ROOT}/broadcast", 202)
def broadcasting_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    return lambda: crowd.broadcast(headers=KEY)


@case(f"POST {ROOT}/broadcast", 202)
def planning_for_named_people_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    ids = crowd.sold("q@example.com")
    return lambda: crowd.broadcast(headers=KEY, audienceType="specific_users", userIds=ids, **PLANNED)


@case(f"GET {ROOT}/campaigns")
def the_list_of_campaigns_with_its_total(client: Client) -> Ask:
    crowd = crowd_of(client)
    crowd.finished(crowd.send())
    return lambda: crowd.owner.get(f"{crowd.path}/campaigns?withTotal=true&status=sent")


@case(f"GET {ONE}")
def one_campaign(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.draft()
    return lambda: crowd.owner.get(crowd.one(campaign))


@case(f"PATCH {ONE}")
def giving_a_campaign_another_time(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.send(**PLANNED)
    return lambda: crowd.owner.patch(crowd.one(campaign), {"scheduledAt": "2027-05-02T18:00:00", "title": "Later"})


@case(f"POST {ONE}/cancel")
def calling_a_campaign_off_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.send(**PLANNED)
    return lambda: crowd.owner.post(f"{crowd.one(campaign)}/cancel", headers=KEY)


@case(f"POST {ONE}/duplicate", 201)
def sending_a_copy_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.draft()
    return lambda: crowd.owner.post(f"{crowd.one(campaign)}/duplicate", {"sendNow": True}, headers=KEY)


@case(f"GET {ONE}/uncertain")
def the_uncertain_with_their_total(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.draft()
    return lambda: crowd.owner.get(f"{crowd.one(campaign)}/uncertain?withTotal=true")


@case(f"POST {ONE}/resend-uncertain", 409)
def sending_nothing_again_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    campaign = crowd.draft()
    return lambda: crowd.owner.post(f"{crowd.one(campaign)}/resend-uncertain", headers=KEY)


@case(f"POST {ROOT}/test", 202)
def testing_two_variants_with_a_key(client: Client) -> Ask:
    crowd = crowd_of(client)
    body = {"title": "A", "body": "B", "abTestEnabled": True, "variantBTitle": "C"}
    return lambda: crowd.owner.post(f"{crowd.path}/test", body, headers=KEY)


@case(f"GET {ROOT}/templates")
def the_templates(client: Client) -> Ask:
    crowd = CampaignEvent(client)
    return lambda: crowd.owner.get(f"{crowd.path}/templates")


@case(f"POST {ROOT}/upload-image", 201)
def uploading_a_picture(client: Client) -> Ask:
    crowd, form = CampaignEvent(client), {"file": (io.BytesIO(picture()), "a.jpg")}
    return lambda: crowd.owner.post(f"{crowd.path}/upload-image", data=form, content_type="multipart/form-data")


@case(f"GET {ROOT}/users/search")
def finding_people(client: Client) -> Ask:
    crowd = crowd_of(client)
    return lambda: crowd.owner.get(f"{crowd.path}/users/search?q=p1")


@case("GET /r/<token>", 302)
def following_a_link(client: Client) -> Ask:
    crowd = crowd_of(client, 1)
    crowd.finished(crowd.send(href="https://example.com/"))
    path = list_mails_to("p0@example.com")[0]["text"].split("http://localhost:8000")[1].split()[0]
    assert data(crowd.owner.get(f"{crowd.path}/campaigns"))["campaigns"][0]["progress"]["clicked"] == 0
    return lambda: client.flask.get(path, headers={"User-Agent": "Mozilla/5.0 Firefox/140.0"})
