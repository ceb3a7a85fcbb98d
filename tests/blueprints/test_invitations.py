"""Invitations over HTTP: the directory, invitations and their answers, links, participation."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.invitations import queries
from app.invitations.actions.invites import count_link_use
from app.invitations.errors import InviteUsed
from tests.counting import record_statements
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.events import create_event, create_organiser_client, create_published_event
from tests.factories.events import update_event as event_changed
from tests.factories.merchants import answer_invitation, create_merchant_account, invite_merchants, update_merchant
from tests.http import Client, data, list_problems, read_error

INVITES = "/api/merchants/me/event-invites"
FLOOR = "/api/merchants/me/pos-floor-status"


def execute_sql(statement: str) -> None:
    """Changes what only time changes."""
    with transaction() as session:
        session.execute(text(statement))


def list_names(response: Any) -> list[str]:
    return [merchant["businessName"] for merchant in data(response)["merchants"]]


def test_directory_lists_active_verified_merchants_without_private_data(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event = create_event(owner)
    create_merchant_account("Kapana Corner", phone="+264811234567", profile={"city": "Windhoek", "category": "Food"})
    create_merchant_account("Not Verified", verified=False)
    paused = create_merchant_account("Paused")
    data(create_signed_in_client(client, paused).post("/api/merchants/me/pause"))
    (row,) = data(owner.get(f"/api/events/{new_event['id']}/merchant-directory"))["merchants"]
    assert set(row) == {
        "id",
        "businessName",
        "stallName",
        "category",
        "city",
        "inviteStatus",
        "applicationStatus",
        "takesPart",
    }
    assert (row["businessName"], row["city"], row["inviteStatus"], row["takesPart"]) == (
        "Kapana Corner",
        "Windhoek",
        None,
        False,
    )


def test_directory_is_searched_without_case_and_accents(client: Client) -> None:
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}/merchant-directory"
    create_merchant_account("Café Ågren", profile={"city": "Lüderitz", "category": "Food & Drinks"})
    create_merchant_account(
        "Łódź Pierogi", profile={"city": "Windhoek", "category": "food-drinks", "stall_name": "Gate B"}
    )
    create_merchant_account("Omuramba Crafts", profile={"city": "windhoek", "category": "crafts"})
    calls = {
        "q=cafe agren": ["Café Ågren"],
        "q=LOD": ["Łódź Pierogi"],
        "q=gate": ["Łódź Pierogi"],
        "city=LUDERITZ": ["Café Ågren"],
        "city=Windhoek": ["Łódź Pierogi", "Omuramba Crafts"],
        "category=food drinks": ["Café Ågren", "Łódź Pierogi"],
        "q=crafts&city=windhoek": ["Omuramba Crafts"],
        "q=%27%3A*%26!": ["Café Ågren", "Łódź Pierogi", "Omuramba Crafts"],
        "q=nothing": [],
        "sort=-businessName": ["Omuramba Crafts", "Łódź Pierogi", "Café Ågren"],
    }
    for query, expected_names in calls.items():
        assert list_names(owner.get(f"{path}?{query}")) == expected_names, query


def test_directory_is_paged_without_gaps(client: Client) -> None:
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}/merchant-directory"
    for number in range(7):
        create_merchant_account(f"Stall {number % 3}")
    public_link: list[str] = []
    page = data(owner.get(f"{path}?limit=2&withTotal=true"))
    assert page["pagination"]["total"] == 7
    while page["pagination"]["nextCursor"]:
        public_link += [merchant["id"] for merchant in page["merchants"]]
        page = data(owner.get(f"{path}?limit=2&cursor={page['pagination']['nextCursor']}"))
    assert len(set(public_link + [merchant["id"] for merchant in page["merchants"]])) == 7


def test_accepted_invitation_makes_a_participant(client: Client) -> None:
    owner_account = create_account("organiser")
    owner, merchant = create_signed_in_client(client, owner_account), create_merchant_account("Kapana Corner")
    me = create_signed_in_client(client, merchant)
    new_event = create_published_event(owner, stallTypes=[{"name": "Food stall", "feeMinor": 150000}])
    link = invite_merchants(owner, new_event["id"], merchant, stallType="food stall", message="Come to gate B.")
    assert [(item["merchantId"], item["status"]) for item in link["invited"]] == [(merchant.id, "pending")]
    (mail,) = list_mails_to(merchant.email)
    assert "you are invited" in mail["subject"] and "N$\u00a01\u202f500.00" in mail["text"]
    (row,) = data(me.get(f"{INVITES}?status=pending"))["invites"]
    assert (row["feeMinor"], row["eventId"]) == (150000, new_event["id"])
    assert data(me.get("/api/merchants/me/events"))["events"] == []
    body = {"status": "accepted", "message": "Gladly."}
    response = me.patch(f"{INVITES}/{row['id']}", body, headers={"If-Match": f'"{row["version"]}"'})
    assert (data(response)["status"], data(response)["reply"]) == ("accepted", "Gladly.")
    assert response.headers["ETag"] == me.get(f"{INVITES}/{row['id']}").headers["ETag"]
    assert data(me.get("/api/merchants/me/events"))["events"] == []
    (application,) = data(owner.get("/api/merchant-applications"))["applications"]
    data(owner.post(f"/api/merchant-applications/{application['id']}/fee/waive", {"reason": "A guest of honour"}))
    (taken,) = data(me.get("/api/merchants/me/events"))["events"]
    assert (taken["id"], taken["feeMinor"], taken["floorStatus"]) == (new_event["id"], 150000, "closed")
    mail = next(mail for mail in list_mails_to(owner_account.email) if mail["subject"] == "Kapana Corner takes part")
    assert mail["headers"]["Reply-To"] == merchant.email
    (shown,) = data(owner.get(f"/api/events/{new_event['id']}/merchant-directory"))["merchants"]
    assert (shown["inviteStatus"], shown["takesPart"]) == ("accepted", True)


def test_repeated_answer_changes_nothing_and_the_opposite_is_refused(client: Client) -> None:
    owner_account, merchant = create_account("organiser"), create_merchant_account()
    owner, me = create_signed_in_client(client, owner_account), create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    assert answer_invitation(me, invite) == answer_invitation(me, invite)
    assert len([item for item in list_mails_to(owner_account.email) if "takes part" in item["subject"]]) == 1
    refused = me.patch(f"{INVITES}/{invite}", {"status": "declined"})
    assert read_error(refused) == (409, "INVITE_DECIDED")
    stale = me.patch(f"{INVITES}/{invite}", {"status": "accepted"}, headers={"If-Match": '"1"'})
    assert read_error(stale) == (412, "STALE_VERSION")
    assert list_problems(me.patch(f"{INVITES}/{invite}", {"status": "withdrawn"})) == {"status": "unknown_value"}


def test_other_merchants_invitation_is_not_found(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    other_slug = create_signed_in_client(client, create_merchant_account())
    for response in (
        other_slug.get(f"{INVITES}/{invite}"),
        other_slug.patch(f"{INVITES}/{invite}", {"status": "accepted"}),
        other_slug.get(f"{INVITES}/nonsense"),
    ):
        assert read_error(response) == (404, "NOT_FOUND")
    assert data(other_slug.get(INVITES))["invites"] == []


def test_invitation_ends_at_its_end_and_with_its_event(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    new_event = create_event(owner)
    invite = invite_merchants(owner, new_event["id"], merchant, expiresAt="2027-01-01")["invited"][0]["inviteId"]
    execute_sql("UPDATE event_invite SET expires_at = now()")
    assert data(me.get(f"{INVITES}/{invite}"))["status"] == "expired"
    assert read_error(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (410, "INVITE_EXPIRED")
    second_invite = invite_merchants(owner, new_event["id"], merchant)["invited"][0]["inviteId"]
    assert second_invite != invite
    data(owner.delete(f"/api/events/{new_event['id']}"))
    assert data(me.get(f"{INVITES}/{second_invite}"))["status"] == "withdrawn"
    assert read_error(me.patch(f"{INVITES}/{second_invite}", {"status": "declined"})) == (410, "INVITE_WITHDRAWN")
    refused = owner.post(f"/api/events/{new_event['id']}/directory-invites", {"merchantIds": [merchant.id]})
    assert read_error(refused) == (409, "EVENT_CLOSED")


def test_merchant_invited_already_is_reported_and_not_invited_twice(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event, first_merchant, second_merchant = (
        create_event(owner),
        create_merchant_account(),
        create_merchant_account(),
    )
    unverified_merchant = create_merchant_account(verified=False)
    first = invite_merchants(owner, new_event["id"], first_merchant)["invited"][0]
    response = invite_merchants(
        owner, new_event["id"], first_merchant, second_merchant, second_merchant, unverified_merchant
    )
    assert [item["merchantId"] for item in response["invited"]] == [second_merchant.id]
    assert response["alreadyInvited"] == [first]
    assert response["unavailable"] == [unverified_merchant.id]
    body = {"merchantIds": [first_merchant.id, "nobody"], "withdraw": True}
    withdrawn = data(owner.post(f"/api/events/{new_event['id']}/directory-invites", body), 201)
    assert [item["merchantId"] for item in withdrawn["withdrawn"]] == [first_merchant.id]
    assert read_error(
        create_signed_in_client(client, first_merchant).patch(f"{INVITES}/{first['inviteId']}", {"status": "accepted"})
    ) == (
        410,
        "INVITE_WITHDRAWN",
    )


def test_automatic_acceptance_needs_an_invitation_without_fee(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    update_merchant(me, settings={"autoAcceptInvites": True})
    free_event, paid_event = create_event(owner), create_event(owner)
    assert invite_merchants(owner, free_event["id"], merchant)["invited"][0]["status"] == "accepted"
    assert invite_merchants(owner, paid_event["id"], merchant, feeMinor=1)["invited"][0]["status"] == "pending"
    assert [item["id"] for item in data(me.get("/api/merchants/me/events"))["events"]] == [free_event["id"]]
    assert {item["subject"].partition(": ")[2] for item in list_mails_to(merchant.email)} == {
        "you take part",
        "you are invited",
    }


def test_paused_merchant_can_only_decline(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me = create_signed_in_client(client, merchant)
    invite = invite_merchants(owner, create_event(owner)["id"], merchant)["invited"][0]["inviteId"]
    data(me.post("/api/merchants/me/pause"))
    assert read_error(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (409, "MERCHANT_PAUSED")
    assert invite_merchants(owner, create_event(owner)["id"], merchant)["unavailable"] == [merchant.id]
    assert answer_invitation(me, invite, "declined")["status"] == "declined"


def test_invalid_invitations_are_refused(client: Client) -> None:
    owner = create_organiser_client(client)
    path = f"/api/events/{create_event(owner)['id']}"
    assert list_problems(owner.post(f"{path}/directory-invites")) == {"merchantIds": "required"}
    assert list_problems(owner.post(f"{path}/directory-invites", {"merchantIds": []})) == {"merchantIds": "too_short"}
    invalid_invites = {"merchantIds": ["a"] * 201, "feeMinor": -1, "message": "x" * 1001}
    assert set(list_problems(owner.post(f"{path}/directory-invites", invalid_invites))) == {
        "merchantIds",
        "feeMinor",
        "message",
    }
    past_link = {"expiresAt": "2020-01-01", "maxUses": 1}
    assert list_problems(owner.post(f"{path}/merchant-invite", past_link)) == {"expiresAt": "too_early"}
    invalid_link = {"maxUses": 0, "email": "nobody", "fee": 1}
    assert set(list_problems(owner.post(f"{path}/merchant-invite", invalid_link))) == {"maxUses", "email", "fee"}


def test_only_the_organiser_of_the_event_invites(client: Client) -> None:
    new_event = create_event(create_organiser_client(client))
    path = f"/api/events/{new_event['id']}"
    stranger, analyst = (
        create_organiser_client(client),
        create_signed_in_client(client, create_account("admin", admin_tier="analyst")),
    )
    body = {"merchantIds": [create_merchant_account().id]}
    assert read_error(stranger.get(f"{path}/merchant-directory")) == (404, "NOT_FOUND")
    assert read_error(stranger.post(f"{path}/directory-invites", body)) == (404, "NOT_FOUND")
    assert read_error(stranger.post(f"{path}/merchant-invite", {})) == (404, "NOT_FOUND")
    assert analyst.get(f"{path}/merchant-directory").status_code == 200
    assert read_error(analyst.post(f"{path}/merchant-invite", {})) == (403, "ROLE_NOT_ALLOWED")
    assert (
        read_error(create_signed_in_client(client, create_merchant_account()).get(f"{path}/merchant-directory"))[0]
        == 403
    )


def test_link_shows_event_and_terms_until_it_ends(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event = create_event(owner)
    body = {"email": "Stall@Example.com", "businessName": "Kapana", "stallType": "Food", "feeMinor": 5, "message": "Hi"}
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite", body), 201)
    assert (link["state"], link["mailed"], link["maxUses"]) == ("open", True, 1)
    (mail,) = list_mails_to("stall@example.com")
    assert link["url"] in mail["text"] and "apply for a stall" in mail["subject"]
    path = f"/api/events/merchant-invite/{link['slug']}"
    public_link = data(client.get(path))
    assert (public_link["eventName"], public_link["feeMinor"], public_link["state"]) == (new_event["name"], 5, "open")
    assert "email" not in public_link
    other_slug = link["slug"][:-1] + ("A" if link["slug"][-1] != "A" else "B")
    assert read_error(client.get(f"/api/events/merchant-invite/{other_slug}")) == (404, "NOT_FOUND")
    revoked = owner.post(f"/api/events/{new_event['id']}/merchant-invite", {"slug": link["slug"], "revoke": True})
    assert data(revoked, 201)["state"] == "withdrawn"
    assert read_error(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_link_works_for_a_draft_and_ends_with_the_event(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event = create_published_event(owner)
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite"), 201)
    path = f"/api/events/merchant-invite/{link['slug']}"
    assert (data(client.get(path))["feeMinor"], link["maxUses"]) == (None, None)
    event_changed(owner, new_event, visibility="archived")
    assert read_error(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_terms_of_an_application_and_the_uses_of_a_link(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event = create_event(owner)
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite", {"maxUses": 2, "feeMinor": 9}), 201)
    terms = queries.get_application_terms(link["slug"])
    assert (terms.event_id, terms.fee_minor, terms.link_id) == (new_event["id"], 9, link["id"])
    for _ in range(2):
        with transaction() as session:
            count_link_use(session, terms.link_id)
    with pytest.raises(InviteUsed), transaction() as session:
        count_link_use(session, terms.link_id)
    assert read_error(client.get(f"/api/events/merchant-invite/{link['slug']}")) == (410, "INVITE_USED")


def test_deletion_withdraws_invitations_and_removes_from_the_directory(client: Client) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    me, new_event = create_signed_in_client(client, merchant), create_event(owner)
    invite_merchants(owner, new_event["id"], merchant)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    run_jobs()
    with transaction() as session:
        assert session.scalars(text("SELECT status FROM event_invite")).all() == ["withdrawn"]
    assert list_names(owner.get(f"/api/events/{new_event['id']}/merchant-directory")) == []


def test_no_operation_needs_more_than_six_statements_and_its_entry(client: Client) -> None:
    owner = create_organiser_client(client)
    new_event, merchant = create_event(owner), [create_merchant_account() for _ in range(3)]
    update_merchant(create_signed_in_client(client, merchant[0]), settings={"autoAcceptInvites": True})
    path, me = f"/api/events/{new_event['id']}", create_signed_in_client(client, merchant[1])
    invite = invite_merchants(owner, new_event["id"], merchant[1])["invited"][0]["inviteId"]
    link = data(owner.post(f"{path}/merchant-invite", {"email": "a@example.com"}), 201)
    calls: list[Any] = [
        lambda: owner.get(f"{path}/merchant-directory?q=kapana&city=windhoek&withTotal=true"),
        lambda: owner.post(f"{path}/directory-invites", {"merchantIds": [item.id for item in merchant]}),
        lambda: owner.post(f"{path}/merchant-invite", {"email": "b@example.com"}),
        lambda: client.get(f"/api/events/merchant-invite/{link['slug']}"),
        lambda: me.get(f"{INVITES}?status=pending"),
        lambda: me.get(f"{INVITES}/{invite}"),
        lambda: me.patch(f"{INVITES}/{invite}", {"status": "accepted"}),
        lambda: me.get("/api/merchants/me/events"),
        lambda: me.patch(FLOOR, {"status": "open"}),
    ]
    for call in calls:
        with record_statements() as executed:
            assert call().status_code in (200, 201)
        counted = [statement for statement in executed if "audit_entry" not in statement]
        assert len(counted) <= 6, "\n".join(counted)
