"""Applying, reading, deciding."""

from tests.ceiling.cases import Ask, case
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    build_application_body,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    submit_documents,
)
from tests.factories.events import create_event, create_organiser_client, create_published_event
from tests.factories.merchants import create_merchant_client
from tests.http import Client, data

ONE = "/api/merchant-applications/<applicationId>"
KEY = {"Idempotency-Key": "counted once and for all"}


@case("POST /api/merchant-applications", 201)
def applying(client: Client) -> Ask:
    event_id = create_published_event(create_organiser_client(client))["id"]
    return lambda: client.post(LIST, build_application_body(eventId=event_id))


@case("POST /api/merchant-applications", 201)
def a_merchant_applying_by_invitation_with_a_key(client: Client) -> Ask:
    owner, me = create_organiser_client(client), create_merchant_client(client)
    made = data(owner.post(f"/api/events/{create_event(owner)['id']}/merchant-invite", {"maxUses": 3}), 201)
    return lambda: me.post(LIST, build_application_body(inviteSlug=made["slug"]), headers=KEY)


@case("GET /api/merchant-applications")
def the_list_with_its_total(client: Client) -> Ask:
    owner = create_organiser_client(client)
    create_application(client, owner)
    return lambda: owner.get(f"{LIST}?withTotal=true&q=kapana&status=submitted")


@case(f"GET {ONE}")
def one_application(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_application(client, owner)
    return lambda: owner.get(f"{LIST}/{made['id']}")


@case(f"PATCH {ONE}")
def approving_with_two_links_due(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_application(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"})


@case(f"PATCH {ONE}")
def approving_with_nothing_due(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_application(client, owner, amountMinor=0)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved", "documentsRequired": []})


@case(f"PATCH {ONE}")
def declining(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_application(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "declined", "declineReason": "Full."})


@case(f"PATCH {ONE}")
def deciding_again(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}", {"decision": "approved"})


@case(f"POST {ONE}/withdraw")
def withdrawing_with_a_key(client: Client) -> Ask:
    me = create_merchant_client(client)
    made = create_application(me, create_organiser_client(client))
    return lambda: me.post(f"{LIST}/{made['id']}/withdraw", headers=KEY)


@case(f"POST {ONE}/links", 201)
def a_fresh_link_with_a_key(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    return lambda: owner.post(f"{LIST}/{made['id']}/links", {"purpose": "documents"}, headers=KEY)


@case(f"PATCH {ONE}/contact")
def correcting_the_contact(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    return lambda: owner.patch(f"{LIST}/{made['id']}/contact", {"email": "kapana.corner@stalls.example"})


@case(f"POST {ONE}/documents/ask-again")
def asking_for_a_document_again(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    body = {"kinds": ["identity"], "reason": "The photo is blurred."}
    return lambda: owner.post(f"{LIST}/{made['id']}/documents/ask-again", body, headers=KEY)


@case(f"POST {ONE}/documents/accept")
def accepting_documents(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    return lambda: owner.post(f"{LIST}/{made['id']}/documents/accept", {"kinds": ["identity"]}, headers=KEY)


@case(f"POST {ONE}/offer-place")
def offering_a_place(client: Client) -> Ask:
    owner = create_organiser_client(client)
    listed = [{"name": "Food", "feeMinor": 250000, "quantity": 1}]
    made = create_application(client, owner, eventId=create_published_event(owner, stallTypes=listed)["id"])
    decide_application(owner, made, "waitlisted")
    return lambda: owner.post(f"{LIST}/{made['id']}/offer-place", headers=KEY)


@case("GET /api/merchant-applications/files/<token>")
def reading_a_document(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    url = data(owner.get(f"{LIST}/{made['id']}"))["documents"][0]["url"]
    return lambda: client.get(url[url.index("/api/") :])


@case(f"POST {ONE}/fee/received")
def receiving_a_fee(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner, documentsRequired=[])
    transfer = {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}
    return lambda: owner.post(f"{LIST}/{made['id']}/fee/received", transfer)


@case(f"GET {ONE}/invoice")
def the_invoice_for_the_organiser(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner, documentsRequired=[])
    return lambda: owner.get(f"{LIST}/{made['id']}/invoice")


@case("PATCH /api/merchant-applications/pay/<token>")
def changing_the_details_of_the_buyer(client: Client) -> Ask:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    path = f"{LIST}/pay/{find_mailed_token('pay')}"
    return lambda: client.patch(path, {"billingAddress": "Stand 14, Soweto Market"})


@case(f"POST {ONE}/fee/refund")
def refunding_a_fee(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner, documentsRequired=[])
    transfer = {"amountMinor": 250000, "reference": "MA-7K2P9QXT", "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{made['id']}/fee/received", transfer))
    return lambda: owner.post(f"{LIST}/{made['id']}/fee/refund", {"reason": "They fell ill"})


@case(f"POST {ONE}/fee/waive")
def waiving_a_fee(client: Client) -> Ask:
    owner = create_organiser_client(client)
    made = create_approved_application(client, owner, documentsRequired=[])
    return lambda: owner.post(f"{LIST}/{made['id']}/fee/waive", {"reason": "a school"})
