"""Applications and decisions over HTTP, from the form to the stall."""

import pytest
from sqlalchemy import text

from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs, sign_in
from tests.factories.applications import (
    EMAIL,
    LIST,
    PATH,
    build_activation_body,
    build_application_body,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
    submit_documents,
)
from tests.factories.events import create_event, create_organiser_client, create_published_event
from tests.http import Client, data, list_problems, read_error


def test_application_goes_from_the_form_to_the_stall(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    assert application["status"] == "submitted" and application["reference"].startswith("MA-")
    assert decide_application(owner, application)["status"] == "awaiting_documents"
    assert list_mails_to(EMAIL)[0]["subject"] == "Windhoek Lights: your stall is approved"

    assert submit_documents(client, find_mailed_token("documents"))["status"] == "awaiting_payment"
    assert pay_stall_fee(client, find_mailed_token("pay"))["status"] == "paid"
    row = data(owner.get(f"{LIST}/{application['id']}"))
    assert row["status"] == "ready"
    assert [requirement["code"] for requirement in row["requirements"]] == ["ACTIVATION_DUE"]

    token = find_mailed_token("activate")
    activation_page = data(client.get(f"/api/merchant-activation/{token}"))
    assert activation_page["email"] == EMAIL and "existingAccount" not in activation_page
    activated = data(client.post(f"/api/merchant-activation/{token}", build_activation_body()))
    assert activated["path"] == PATH and activated["user"]["roles"] == ["merchant"]
    assert sign_in(client, EMAIL, "charcoal and a canvas roof")["user"]["email"] == EMAIL
    assert read_error(client.get(f"/api/merchant-activation/{token}")) == (410, "LINK_USED")
    assert data(owner.get(f"{LIST}/{application['id']}"))["activationMessage"] == "See you at gate B."
    assert [" ".join(mail["subject"].split()) for mail in list_mails_to(EMAIL)] == [
        "Windhoek Lights: you are ready",
        "Windhoek Lights: activate your account",
        "Windhoek Lights: receipt for N$ 2 500.00",
        "Windhoek Lights: your documents are in",
        "Windhoek Lights: your stall is approved",
        "Windhoek Lights: we have your application",
    ]


def test_application_without_contact_is_accepted(client: Client) -> None:
    application = data(client.post(LIST, {"amountMinor": 0, "destination": "bank", "mode": "now"}), 201)
    assert set(application) >= {"id", "reference", "status"}
    admin = create_signed_in_client(client, create_account("admin"))
    codes = [requirement["code"] for requirement in data(admin.get(f"{LIST}/{application['id']}"))["requirements"]]
    assert codes == ["DECISION_PENDING", "NO_CONTACT"]


def test_contact_of_a_signed_in_merchant_comes_from_the_account(client: Client) -> None:
    merchant_account = create_account("merchant", name="Maria ǃGaroës", phone="+264811111111")
    merchant = create_signed_in_client(client, merchant_account)
    application = data(merchant.post(LIST, {"amountMinor": 100, "destination": "payrail", "mode": "now"}), 201)
    row = data(merchant.get(f"{LIST}/{application['id']}"))
    assert (row["contactName"], row["email"], row["phone"]) == (
        merchant_account.name,
        merchant_account.email,
        merchant_account.phone,
    )


@pytest.mark.parametrize(
    ("fields", "expected_problems"),
    [
        ({"amountMinor": -1}, {"amountMinor": "too_small"}),
        ({"amountMinor": 1.5}, {"amountMinor": "invalid_type"}),
        ({"amountMinor": "100"}, {"amountMinor": "invalid_type"}),
        ({"amountMinor": True}, {"amountMinor": "invalid_type"}),
        ({"amountMinor": 2**53}, {"amountMinor": "too_large"}),
        ({"destination": "cash"}, {"destination": "unknown_value"}),
        ({"mode": "schedule"}, {"scheduledFor": "required"}),
        ({"mode": "schedule", "scheduledFor": "2020-01-01"}, {"scheduledFor": "too_small"}),
        ({"mode": "schedule", "scheduledFor": "2099-01-01"}, {"scheduledFor": "too_large"}),
        ({"mode": "schedule", "scheduledFor": "soon"}, {"scheduledFor": "too_short"}),
        ({"payrailMsisdn": "12"}, {"payrailMsisdn": "invalid_phone"}),
        ({"website": "javascript:alert(1)"}, {"website": "invalid_url"}),
        ({"eventId": "x" * 24}, {"eventId": "invalid_id"}),
        ({"inviteSlug": "nobody-knows-it"}, {"inviteSlug": "unknown_value"}),
        ({"riskLevel": "low"}, {"riskLevel": "unknown_field"}),
    ],
)
def test_invalid_fields_are_named(client: Client, fields: dict[str, object], expected_problems: dict[str, str]) -> None:
    assert list_problems(client.post(LIST, build_application_body(**fields))) == expected_problems


def test_empty_website_is_null(client: Client) -> None:
    assert data(client.post(LIST, build_application_body(website="")), 201)["status"] == "submitted"


def test_only_public_events_that_are_not_over_take_applications(client: Client) -> None:
    owner = create_organiser_client(client)
    draft = create_event(owner)
    assert read_error(client.post(LIST, build_application_body(eventId=draft["id"]))) == (404, "NOT_FOUND")
    assert read_error(client.post(LIST, build_application_body(eventId="0" * 24))) == (404, "NOT_FOUND")
    over = create_published_event(owner, startDate="2020-01-01T10:00:00", endDate="2020-01-02T10:00:00")
    assert read_error(client.post(LIST, build_application_body(eventId=over["id"]))) == (409, "APPLICATIONS_CLOSED")


def test_repeated_idempotency_key_makes_one_application(client: Client) -> None:
    keyed = build_application_body(idempotencyKey="the-same-key")
    first, repeated = client.post(LIST, keyed), client.post(LIST, keyed)
    assert data(first, 201) == data(repeated, 201) and repeated.headers["Idempotent-Replayed"] == "true"


def test_callers_see_only_their_own_applications(client: Client) -> None:
    owner, other_decision = create_organiser_client(client), create_organiser_client(client)
    merchant, stranger = (create_signed_in_client(client, create_account("merchant")) for _ in range(2))
    mine = create_published_event(owner)
    application = data(merchant.post(LIST, build_application_body(eventId=mine["id"], email=None)), 201)
    free = data(client.post(LIST, build_application_body()), 201)
    admin, analyst = (
        create_signed_in_client(client, create_account("admin", admin_tier=tier)) for tier in ("support", "analyst")
    )
    for merchant_account, ids in (
        (owner, {application["id"]}),
        (other_decision, set()),
        (merchant, {application["id"]}),
        (stranger, set()),
        (admin, {application["id"], free["id"]}),
        (analyst, {application["id"], free["id"]}),
    ):
        assert {row["id"] for row in data(merchant_account.get(LIST))["applications"]} == ids
    for merchant_account in (other_decision, stranger):
        assert read_error(merchant_account.get(f"{LIST}/{application['id']}")) == (404, "NOT_FOUND")
    decision = {"decision": "approved"}
    assert read_error(other_decision.patch(f"{LIST}/{application['id']}", decision)) == (404, "NOT_FOUND")
    assert read_error(owner.patch(f"{LIST}/{free['id']}", decision)) == (404, "NOT_FOUND")
    assert read_error(merchant.patch(f"{LIST}/{application['id']}", decision)) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(analyst.patch(f"{LIST}/{application['id']}", decision)) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(client.patch(f"{LIST}/{application['id']}", decision)) == (401, "TOKEN_MISSING")
    assert data(admin.patch(f"{LIST}/{free['id']}", decision))["decision"] == "approved"


def test_notes_and_risk_never_reach_the_applicant(client: Client) -> None:
    owner, merchant = (
        create_organiser_client(client),
        create_signed_in_client(client, create_account("merchant", email=EMAIL)),
    )
    application = data(merchant.post(LIST, build_application_body(eventId=create_published_event(owner)["id"])), 201)
    notes = {"reviewerNotes": "owes us money since Gobabis", "riskLevel": "high"}
    row = decide_application(
        owner, application, "declined", declineReason="The grounds are full.\nTry next year.", **notes
    )
    assert (row["reviewerNotes"], row["riskLevel"]) == ("owes us money since Gobabis", "high")
    for response in (merchant.get(LIST), merchant.get(f"{LIST}/{application['id']}")):
        text = response.get_data(as_text=True)
        assert "Gobabis" not in text and "riskLevel" not in text and "reviewerNotes" not in text
        assert "The grounds are full." in text
    for filter_query in ("riskLevel=high", "reviewerNotes=Gobabis"):
        assert data(merchant.get(f"{LIST}?{filter_query}"))["applications"] == []
        assert len(data(owner.get(f"{LIST}?{filter_query}"))["applications"]) == 1
    mail = list_mails_to(EMAIL)[0]
    assert "The grounds are full." in mail["text"] and "Try next year." in mail["html"]
    assert "Gobabis" not in mail["text"] + mail["html"]


def test_list_is_filtered_sorted_and_paged(client: Client) -> None:
    owner = create_organiser_client(client)
    event_id = create_published_event(owner)["id"]
    application = [
        create_application(client, eventId=event_id, amountMinor=number, businessName=f"Stall {number}")
        for number in range(5)
    ]
    decide_application(owner, application[2], "declined", declineReason="full")
    rows = data(owner.get(f"{LIST}?decision=declined"))["applications"]
    assert [row["id"] for row in rows] == [application[2]["id"]]
    assert [row["amountMinor"] for row in data(owner.get(f"{LIST}?sort=-amountMinor&q=stall"))["applications"]] == [
        4,
        3,
        2,
        1,
        0,
    ]
    assert len(data(owner.get(f"{LIST}?status=submitted&eventId={event_id}"))["applications"]) == 4
    seen_ids, cursor = [], ""
    while True:
        page = data(owner.get(f"{LIST}?limit=2&sort=createdAt&withTotal=true{cursor}"))
        seen_ids += [row["id"] for row in page["applications"]]
        assert page["pagination"]["total"] == 5
        if page["pagination"]["nextCursor"] is None:
            break
        cursor = f"&cursor={page['pagination']['nextCursor']}"
    assert seen_ids == [item["id"] for item in application]


def test_repeated_decision_changes_nothing(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    first = decide_application(owner, application)
    assert decide_application(owner, application)["version"] == first["version"]
    assert [mail["subject"].partition(": ")[2] for mail in list_mails_to(EMAIL)] == [
        "your stall is approved",
        "we have your application",
    ]
    other_decision = owner.patch(f"{LIST}/{application['id']}", {"decision": "declined"})
    assert read_error(other_decision) == (409, "ALREADY_DECIDED")


def test_decision_on_an_old_version_is_stale(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    tag = owner.get(f"{LIST}/{application['id']}").headers["ETag"]
    decide_application(owner.with_(If_Match=tag), application)
    stale_decision = owner.with_(If_Match=tag).patch(f"{LIST}/{application['id']}", {"decision": "declined"})
    assert read_error(stale_decision) == (412, "STALE_VERSION")
    assert owner.with_(If_None_Match='"99"').get(f"{LIST}/{application['id']}").status_code == 200


@pytest.mark.parametrize(
    ("stall", "document_count"), [("Food", 4), ("Kapana and grill", 4), ("Crafts", 3), (None, 3), ("Barber", 3)]
)
def test_food_stalls_need_one_more_document(client: Client, stall: str | None, document_count: int) -> None:
    owner = create_organiser_client(client)
    row = create_approved_application(client, owner, stallType=stall)
    assert len([document for document in row["documents"] if document["required"]]) == document_count


def test_deciders_choose_or_waive_documents(client: Client) -> None:
    owner = create_organiser_client(client)
    row = create_approved_application(client, owner, documentsRequired=["tax_clearance"])
    assert [document["kind"] for document in row["documents"]] == ["tax_clearance"]
    assert create_approved_application(client, owner, documentsRequired=[])["status"] == "awaiting_payment"
    assert create_approved_application(client, owner, documentsRequired=[], amountMinor=0)["status"] == "ready"
    new_application = create_application(client, owner)
    response = owner.patch(f"{LIST}/{new_application['id']}", {"decision": "approved", "documentsRequired": ["diary"]})
    assert list_problems(response) == {"documentsRequired[0]": "unknown_value"}


def test_merchant_withdraws_their_application(client: Client) -> None:
    owner, merchant = (
        create_organiser_client(client),
        create_signed_in_client(client, create_account("merchant", email=EMAIL)),
    )
    application = data(merchant.post(LIST, build_application_body(eventId=create_published_event(owner)["id"])), 201)
    decide_application(owner, application)
    token = find_mailed_token("documents")
    stranger = create_signed_in_client(client, create_account("merchant"))
    assert read_error(stranger.post(f"{LIST}/{application['id']}/withdraw")) == (404, "NOT_FOUND")
    for _ in range(2):
        assert data(merchant.post(f"{LIST}/{application['id']}/withdraw"))["status"] == "withdrawn"
    assert read_error(client.get(f"{LIST}/docs/{token}")) == (410, "LINK_EXPIRED")
    assert read_error(owner.post(f"{LIST}/{application['id']}/links", {"purpose": "documents"})) == (409, "NOTHING_DUE")


def test_applications_expire_with_their_event(client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    with transaction() as session:
        session.execute(
            text("UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 day'")
        )
        enqueue("applications.expire")
    run_jobs()
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "expired"
    late_decision = owner.patch(f"{LIST}/{application['id']}", {"decision": "approved"})
    assert read_error(late_decision) == (409, "APPLICATION_STATE")
