"""What organisers do: events, decisions, allocations, admissions, messages and exports."""

from io import BytesIO

from app.accounts.caller import build_caller
from app.applications.moved_events import reopen_expiring_documents
from app.applications.waitlist import lapse_offers
from app.audit.actions import Action
from app.files.actions import request_file
from app.invitations.actions import decline_link
from tests.audit.scenes import records
from tests.factories.accounts import create_signed_in_client
from tests.factories.allocations import claim_slot, create_another_block, create_block
from tests.factories.applications import (
    LIST,
    create_application,
    create_approved_application,
    create_offered_application,
    decide_application,
    find_mailed_token,
    submit_documents,
)
from tests.factories.campaigns import CampaignEvent
from tests.factories.events import (
    WEEKEND,
    create_event,
    create_organiser_client,
    create_published_event,
    update_event,
)
from tests.factories.inventory import Stock
from tests.factories.merchants import (
    answer_invitation,
    create_merchant_account,
    create_merchant_client,
    create_participant,
    invite_merchants,
)
from tests.factories.payouts import execute_sql, run_all_jobs
from tests.files.sample import SAMPLE, register_sample
from tests.http import Client, data
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner


@records(
    Action.EVENT_CREATED,
    Action.EVENT_PUBLISHED,
    Action.EVENT_CANCELLED,
    Action.EVENT_ARCHIVED,
    Action.EVENT_DELETED,
    Action.TICKETS_IMPORTED,
    Action.TICKET_IMPORT_UNDONE,
)
def the_life_of_events(client: Client) -> None:
    owner = create_organiser_client(client)
    data(owner.delete(f"/api/events/{create_event(owner)['id']}"))
    update_event(owner, create_published_event(owner), visibility="cancelled")
    event = create_published_event(owner)
    path = f"/api/events/{event['id']}/tickets"
    content = b"reference,ticketType\nA1,Weekend pass\n"
    form = {"file": (BytesIO(content), "tickets.csv"), "createTypes": "true"}
    imported = data(owner.open("POST", f"{path}/import", data=form, content_type="multipart/form-data"))
    data(owner.post(f"{path}/imports/{imported['importId']}/undo"))
    update_event(owner, data(owner.get(f"/api/events/{event['id']}")), visibility="archived")


@records(
    Action.EVENT_CHANGED,
    Action.TICKET_TYPE_CREATED,
    Action.TICKET_TYPE_CHANGED,
    Action.TICKET_TYPE_REMOVED,
    Action.STALL_TYPE_CREATED,
    Action.STALL_TYPE_CHANGED,
    Action.STALL_TYPE_REMOVED,
    Action.PROMO_CODES_CHANGED,
)
def changing_an_event(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    for _ in range(2):
        update_event(owner, event, capacity=500, promoCodes=[{"code": "EARLY", "percentOff": 10}])
        update_event(owner, event, stallTypes=[{"name": "Food", "feeMinor": 100}])
    for _ in range(2):
        update_event(owner, event, stallTypes=[{"name": "Food", "feeMinor": 200}])
        update_event(owner, event, ticketTypes=[{**WEEKEND, "priceMinor": 90000}])
    update_event(owner, event, stallTypes=[])
    update_event(owner, event, ticketTypes=[{"name": "Day pass", "priceMinor": 100, "quantity": 10}])


@records(
    Action.APPLICATION_APPROVED,
    Action.APPLICATION_DECLINED,
    Action.APPLICATION_REOPENED,
    Action.APPLICATION_WAITLISTED,
    Action.PLACE_OFFERED,
    Action.PLACE_ACCEPTED,
    Action.PLACE_DECLINED,
    Action.PLACE_OFFER_LAPSED,
    Action.APPLICATION_LINK_SHOWN,
    Action.APPLICANT_CHANGED,
    Action.DOCUMENTS_SUBMITTED,
    Action.DOCUMENTS_REOPENED,
    Action.DOCUMENTS_ASKED_AGAIN,
    Action.DOCUMENTS_ACCEPTED,
    Action.DOCUMENT_READ,
)
def deciding_about_applications(client: Client) -> None:
    owner = create_organiser_client(client)
    declined = create_application(client, owner, email="other@example.com")
    decide_application(owner, declined, "declined")
    decide_application(owner, declined, "submitted", reason="a mistake")
    for number, answer in enumerate(("accepted", "declined", None)):
        create_offered_application(client, owner, email=f"waiting{number}@example.com")
        if answer is not None:
            token = find_mailed_token("place-offer", f"waiting{number}@example.com")
            data(client.post(f"{LIST}/offer/{token}", {"answer": answer}))
    execute_sql("UPDATE application_link SET expires_at = now() WHERE purpose = 'offer' AND used_at IS NULL")
    lapse_offers()
    application = create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    data(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "payment"}), 201)
    url = data(owner.get(f"{LIST}/{application['id']}"))["documents"][0]["url"]
    assert client.get(url[url.index("/api/") :]).status_code == 200
    for _ in range(2):
        data(owner.post(f"{LIST}/{application['id']}/documents/accept", {"kinds": ["identity"]}))
    execute_sql("UPDATE application_document SET expires_on = current_date")
    reopen_expiring_documents(application["id"])
    for _ in range(2):
        data(owner.patch(f"{LIST}/{application['id']}/contact", {"contactName": "Selma Iita"}))
    body = {"kinds": ["identity"], "reason": "The photo is blurred."}
    for _ in range(2):
        data(owner.post(f"{LIST}/{application['id']}/documents/ask-again", body))


@records(Action.APPLICATION_WITHDRAWN)
def withdrawing_an_application(client: Client) -> None:
    me = create_merchant_client(client)
    application = create_application(me, create_organiser_client(client))
    for _ in range(2):
        data(me.post(f"{LIST}/{application['id']}/withdraw"))


@records(
    Action.MERCHANTS_INVITED,
    Action.INVITE_ACCEPTED,
    Action.INVITE_DECLINED,
    Action.INVITE_WITHDRAWN,
    Action.INVITE_LINK_CREATED,
    Action.INVITE_LINK_DECLINED,
    Action.INVITE_LINK_WITHDRAWN,
)
def inviting_merchants(client: Client) -> None:
    owner, guests = create_organiser_client(client), [create_merchant_account() for _ in range(3)]
    event_id = create_event(owner)["id"]
    invited = {
        entry["merchantId"]: entry["inviteId"] for entry in invite_merchants(owner, event_id, *guests)["invited"]
    }
    for guest, answer in zip(guests, ("accepted", "declined"), strict=False):
        answer_invitation(create_signed_in_client(client, guest), invited[guest.id], answer)
    data(
        owner.post(f"/api/events/{event_id}/directory-invites", {"merchantIds": [guests[2].id], "withdraw": True}), 201
    )
    link = data(owner.post(f"/api/events/{event_id}/merchant-invite", {}), 201)
    for _ in range(2):
        data(owner.post(f"/api/events/{event_id}/merchant-invite", {"slug": link["slug"], "revoke": True}), 201)
    mailed = data(owner.post(f"/api/events/{event_id}/merchant-invite", {"email": "stall@example.com"}), 201)
    for _ in range(2):
        decline_link(slug=mailed["slug"])


@records(
    Action.BLOCK_CREATED,
    Action.BLOCK_CHANGED,
    Action.GUEST_REPORT_EXPORTED,
    Action.GUEST_REPORT_MAILED,
    Action.CODES_CREATED,
    Action.BLOCK_CHANGED,
    Action.CODES_EXPORTED,
    Action.GUESTS_INVITED,
    Action.LINK_CHANGED,
    Action.SLOTS_MOVED,
    Action.SLOTS_RELEASED,
    Action.SLOT_REVOKED,
    Action.ADMITTED,
    Action.ADMISSION_UNDONE,
)
def giving_places_away(client: Client) -> None:
    block = create_block(client)
    admitted, revoked = block.claimed(2)
    data(block.owner.get(f"{block.path}/codes"))
    data(block.owner.patch(block.path, {"guestsMayGiveBack": False}))
    block.invite("tuli@example.com")
    block.open_link(maxPerClaim=2)
    data(block.post("move", toBlockId=create_another_block(block).id, quantity=1))
    data(block.change(name="Silver"))
    data(block.owner.get(f"{block.path}/report"))
    data(block.post("report/email", to="sponsor@bank.example"), 202)
    data(block.post("release-unused", quantity=1))
    data(block.revoke(revoked))
    data(block.admit(admitted))
    admissions = f"/api/events/{block.event['id']}/admissions"
    (logged,) = data(block.owner.get(admissions))["admissions"]
    data(block.owner.post(f"{admissions}/{logged['id']}/undo", {"reason": "wrong ticket"}))


@records(Action.SLOT_REASSIGNED)
def passing_a_place_on(client: Client) -> None:
    token = create_block(client).allocator()
    path = f"/api/allocations/allocator/{token}"
    slot = data(client.post(path, {"name": "Tuli", "email": "tuli@example.com"}))
    data(client.post(path, {"slotId": slot["slotId"], "name": "Frieda", "email": "frieda@example.com"}))


@records(Action.ADMITTED)
def admitting_a_party(client: Client) -> None:
    block = create_block(client)
    party = data(claim_slot(client, block.open_link(maxPerClaim=2), quantity=2))
    data(block.admit(party["slotId"], count=2))


@records(Action.PACK_CREATED, Action.TICKETS_EXPORTED)
def printing_tickets(client: Client) -> None:
    block = create_block(client)
    pack = data(block.post("packs", count=2), 202)
    run_all_jobs()
    assert block.owner.get(f"{block.path}/packs/{pack['id']}/tickets.pdf").status_code == 200


@records(Action.CAMPAIGN_SENT, Action.CAMPAIGN_CANCELLED, Action.CAMPAIGN_RESENT)
def writing_to_many(client: Client) -> None:
    campaign_event = CampaignEvent(client)
    campaign_event.sold("frieda@example.com")
    sent = campaign_event.send()
    campaign_event.finished(sent)
    execute_sql("UPDATE campaign_recipient SET state = 'uncertain'")
    execute_sql("UPDATE outbox SET state = 'uncertain' WHERE dedupe_key LIKE 'campaign-%'")
    data(campaign_event.owner.post(f"{campaign_event.one(sent)}/resend-uncertain"), 202)
    planned = campaign_event.send(sendNow=False, scheduledAt="2027-05-01T18:00:00")
    for _ in range(2):
        data(campaign_event.owner.post(f"{campaign_event.one(planned)}/cancel"))


@records(
    Action.STOCK_EXPORTED,
    Action.VARIANCE_EXPORTED,
    Action.REPORT_EXPORTED,
    Action.PURCHASE_ORDER_EXPORTED,
    Action.AUDIT_EXPORTED,
    Action.STALL_FEES_EXPORTED,
    Action.JOURNAL_EXPORTED,
)
def downloading(client: Client) -> None:
    stock = Stock(client)
    stock.item(onHand=0, reorderLevel=5, parLevel=10)
    path = stock.path
    order = data(stock.owner.post(f"{path}/reorder/apply", {}))["orders"][0]
    job = stock.owner.get(f"{path}/reports?format=pdf").get_json()["data"]["jobId"]
    run_all_jobs()
    paths = ("export.csv", "variance.csv", "reports?format=csv", f"reports?jobId={job}&download=true")
    for name in paths:
        assert stock.owner.get(f"{path}/{name}").status_code == 200
    assert stock.owner.get(order["sheetUrl"]).status_code == 200
    assert stock.owner.get("/api/organisations/me/audit.csv").status_code == 200
    assert stock.owner.get(f"{path.removesuffix('/inventory')}/stall-fees.csv").status_code == 200
    assert stock.owner.get("/api/organisations/me/journal.csv").status_code == 200


@records(Action.APPLICATIONS_EXPORTED, Action.ADMISSIONS_EXPORTED, Action.SALES_EXPORTED, Action.BLOCKS_EXPORTED)
def downloading_tables(client: Client) -> None:
    owner = create_owner()
    event = create_published_event(create_signed_in_client(client, owner))
    desk = sign_in_browser(client.flask.application, owner)
    for page in ("stalls", "gate/log", "sales/tickets", "guests"):
        assert desk.open(f"/desk/events/{event['id']}/{page}?format=csv").status_code == 200


@records(Action.ADDRESS_STOPPED, Action.ADDRESS_ALLOWED, Action.MESSAGE_ADDRESSES_EXPORTED)
def stopping_messages_to_an_address(client: Client) -> None:
    owner = create_owner()
    event = create_published_event(create_signed_in_client(client, owner))
    desk = sign_in_browser(client.flask.application, owner)
    path = f"/desk/events/{event['id']}/messages/suppressions"
    desk.open(f"{path}/add")
    for _ in range(2):
        assert desk.press(form=1, address="frieda@example.com").status_code == 303
    assert desk.open(f"{path}?format=csv").status_code == 200
    desk.open(f"{path}/remove?reason=stopped&channel=all&address=frieda@example.com")
    assert desk.send(form=1).status_code == 200


@records(Action.FILE_EXPORTED, Action.FILE_DELETED)
def using_files(client: Client) -> None:
    owner = create_owner()
    desk = sign_in_browser(client.flask.application, owner)
    with register_sample():
        file_id = request_file(build_caller(owner), SAMPLE, organisation_id=owner.id)
        run_all_jobs()
        assert desk.open(f"/desk/files/{file_id}/download").status_code == 200
        desk.open(f"/desk/files/{file_id}/delete")
        assert desk.send(form=1).status_code == 200


@records(Action.STALL_PLACED)
def placing_a_stall(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    _, merchant = create_participant(client, owner, event["id"])
    data(owner.patch(f"/api/events/{event['id']}/stalls/{merchant.id}", {"stallNumber": "B12"}))
