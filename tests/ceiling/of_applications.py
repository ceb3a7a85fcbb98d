"""Applying, reading, deciding."""

from tests.ceiling.cases import Ask, case
from tests.factories.applications import LIST, applied, approved, body, handed_in, link
from tests.factories.events import event, organiser, published
from tests.factories.merchants import merchant
from tests.http import Client, data

ONE = "/api/merchant-applications/<applicationId>"
KEY = {"Idempotency-Key": "counted once and for all"}


@case("POST /api/merchant-applications", 201)
def applying(client: Client) -> Ask:
    event_id = published(organiser(client))["id"]
    return lambda: client.post(LIST, body(eventId=event_id))


@case("POST /api/merchant-applications", 201)
def a_merchant_applying_by_invitation_with_a_key(client: Client) -> Ask:
    owner, me = organiser(client), merchant(client)
    made = data(owner.post(f"/api/events/{event(owner)['id']}/merchant-invite", {"maxUses": 3}), 201)
    return lambda: me.post(LIST, body(inviteSlug=made["slug"]), headers=KEY)


@case("GET /api/merchant-applications")
def the_list_with_its_total(client: Client) -> Ask:
    owner = organiser(client)
    applied(client, owner)
    return lambda: owner.get(f"{LIST}?withTotal=true&q=kapana&status=submitted")


@case(f"GET {ONE}")
def one_application(client: Client) -> Ask:
    owner = organiser(client)
    made = applied(client, owner)
    return lambda: owner.get(f"{LIST}/{made['id']}")


@case(f"PATCH {ONE}")
def approving_with_two_links_due(client: Client) -> Ask:
    owner = organiser(client)
    made = applied(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"})


@case(f"PATCH {ONE}")
def approving_with_nothing_due(client: Client) -> Ask:
    owner = organiser(client)
    made = applied(client, owner, amountMinor=0)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved", "documentsRequired": []})


@case(f"PATCH {ONE}")
def declining(client: Client) -> Ask:
    owner = organiser(client)
    made = applied(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "declined", "declineReason": "Full."})


@case(f"PATCH {ONE}")
def deciding_again(client: Client) -> Ask:
    owner = organiser(client)
    made = approved(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"})


@case(f"POST {ONE}/withdraw")
def withdrawing_with_a_key(client: Client) -> Ask:
    me = merchant(client)
    made = applied(me, organiser(client))
    return lambda: me.post(f"{LIST}/{made['id']}/withdraw", headers=KEY)


@case(f"POST {ONE}/links", 201)
def a_fresh_link_with_a_key(client: Client) -> Ask:
    owner = organiser(client)
    made = approved(client, owner)
    return lambda: owner.post(f"{LIST}/{made['id']}/links", {"purpose": "documents"}, headers=KEY)


@case("GET /api/merchant-applications/files/<token>")
def reading_a_document(client: Client) -> Ask:
    owner = organiser(client)
    made = approved(client, owner)
    handed_in(client, link("documents"))
    url = data(owner.get(f"{LIST}/{made['id']}"))["documents"][0]["url"]
    return lambda: client.get(url[url.index("/api/") :])
