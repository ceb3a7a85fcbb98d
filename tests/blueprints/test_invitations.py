"""Invitations over HTTP: the directory, invitations and their answers, links, participation."""

from typing import Any

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from app.invitations import queries
from app.invitations.actions.invite_links import count_link_use
from app.invitations.errors import InviteUsed
from tests.counting import statements
from tests.factories.accounts import PASSWORD, account, deliver, mails_to, signed_in
from tests.factories.events import changed as event_changed
from tests.factories.events import event, organiser, published
from tests.factories.merchants import answered, changed, invited, merchant_account
from tests.http import Client, data, problems, refusal

INVITES = "/api/merchants/me/event-invites"
FLOOR = "/api/merchants/me/pos-floor-status"


def execute_sql(statement: str) -> None:
    """Changes what only time changes."""
    with transaction() as session:
        session.execute(text(statement))


def list_names(response: Any) -> list[str]:
    return [merchant["businessName"] for merchant in data(response)["merchants"]]


def test_directory_lists_active_verified_merchants_without_private_data(client: Client) -> None:
    owner = organiser(client)
    new_event = event(owner)
    merchant_account("Kapana Corner", phone="+264811234567", profile={"city": "Windhoek", "category": "Food"})
    merchant_account("Not Verified", verified=False)
    paused = merchant_account("Paused")
    data(signed_in(client, paused).post("/api/merchants/me/pause"))
    (row,) = data(owner.get(f"/api/events/{new_event['id']}/merchant-directory"))["merchants"]
    assert set(row) == {"id", "businessName", "stallName", "category", "city", "inviteStatus", "takesPart"}
    assert (row["businessName"], row["city"], row["inviteStatus"], row["takesPart"]) == (
        "Kapana Corner",
        "Windhoek",
        None,
        False,
    )


def test_directory_is_searched_without_case_and_accents(client: Client) -> None:
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}/merchant-directory"
    merchant_account("Café Ågren", profile={"city": "Lüderitz", "category": "Food & Drinks"})
    merchant_account("Łódź Pierogi", profile={"city": "Windhoek", "category": "food-drinks", "stall_name": "Gate B"})
    merchant_account("Omuramba Crafts", profile={"city": "windhoek", "category": "crafts"})
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
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}/merchant-directory"
    for number in range(7):
        merchant_account(f"Stall {number % 3}")
    public_link: list[str] = []
    page = data(owner.get(f"{path}?limit=2&withTotal=true"))
    assert page["pagination"]["total"] == 7
    while page["pagination"]["nextCursor"]:
        public_link += [merchant["id"] for merchant in page["merchants"]]
        page = data(owner.get(f"{path}?limit=2&cursor={page['pagination']['nextCursor']}"))
    assert len(set(public_link + [merchant["id"] for merchant in page["merchants"]])) == 7


def test_accepted_invitation_makes_a_participant(client: Client) -> None:
    owner_account = account("organiser")
    owner, merchant = signed_in(client, owner_account), merchant_account("Kapana Corner")
    me = signed_in(client, merchant)
    new_event = published(owner, stallTypes=[{"name": "Food stall", "feeMinor": 150000}])
    link = invited(owner, new_event["id"], merchant, stallType="food stall", message="Come to gate B.")
    assert [(item["merchantId"], item["status"]) for item in link["invited"]] == [(merchant.id, "pending")]
    (mail,) = mails_to(merchant.email)
    assert "you are invited" in mail["subject"] and "N$\u00a01\u202f500.00" in mail["text"]
    (row,) = data(me.get(f"{INVITES}?status=pending"))["invites"]
    assert (row["feeMinor"], row["eventId"], row["expiresAt"]) == (150000, new_event["id"], new_event["endsAt"])
    assert data(me.get("/api/merchants/me/events"))["events"] == []
    body = {"status": "accepted", "message": "Gladly."}
    response = me.patch(f"{INVITES}/{row['id']}", body, headers={"If-Match": f'"{row["version"]}"'})
    assert (data(response)["status"], data(response)["reply"]) == ("accepted", "Gladly.")
    assert response.headers["ETag"] == me.get(f"{INVITES}/{row['id']}").headers["ETag"]
    (taken,) = data(me.get("/api/merchants/me/events"))["events"]
    assert (taken["id"], taken["feeMinor"], taken["floorStatus"]) == (new_event["id"], 150000, "closed")
    assert mails_to(owner_account.email)[0]["subject"] == "Kapana Corner takes part"
    (shown,) = data(owner.get(f"/api/events/{new_event['id']}/merchant-directory"))["merchants"]
    assert (shown["inviteStatus"], shown["takesPart"]) == ("accepted", True)


def test_repeated_answer_changes_nothing_and_the_opposite_is_refused(client: Client) -> None:
    owner_account, merchant = account("organiser"), merchant_account()
    owner, me = signed_in(client, owner_account), signed_in(client, merchant)
    invite = invited(owner, event(owner)["id"], merchant)["invited"][0]["inviteId"]
    assert answered(me, invite) == answered(me, invite)
    assert len([item for item in mails_to(owner_account.email) if "takes part" in item["subject"]]) == 1
    refused = me.patch(f"{INVITES}/{invite}", {"status": "declined"})
    assert refusal(refused) == (409, "INVITE_DECIDED")
    stale = me.patch(f"{INVITES}/{invite}", {"status": "accepted"}, headers={"If-Match": '"1"'})
    assert refusal(stale) == (412, "STALE_VERSION")
    assert problems(me.patch(f"{INVITES}/{invite}", {"status": "withdrawn"})) == {"status": "unknown_value"}


def test_other_merchants_invitation_is_not_found(client: Client) -> None:
    owner, merchant = organiser(client), merchant_account()
    invite = invited(owner, event(owner)["id"], merchant)["invited"][0]["inviteId"]
    other_slug = signed_in(client, merchant_account())
    for response in (
        other_slug.get(f"{INVITES}/{invite}"),
        other_slug.patch(f"{INVITES}/{invite}", {"status": "accepted"}),
        other_slug.get(f"{INVITES}/nonsense"),
    ):
        assert refusal(response) == (404, "NOT_FOUND")
    assert data(other_slug.get(INVITES))["invites"] == []


def test_invitation_ends_at_its_end_and_with_its_event(client: Client) -> None:
    owner, merchant = organiser(client), merchant_account()
    me = signed_in(client, merchant)
    new_event = event(owner)
    invite = invited(owner, new_event["id"], merchant, expiresAt="2027-01-01")["invited"][0]["inviteId"]
    execute_sql("UPDATE event_invite SET expires_at = now()")
    assert data(me.get(f"{INVITES}/{invite}"))["status"] == "expired"
    assert refusal(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (410, "INVITE_EXPIRED")
    second_invite = invited(owner, new_event["id"], merchant)["invited"][0]["inviteId"]
    assert second_invite != invite
    data(owner.delete(f"/api/events/{new_event['id']}"))
    assert data(me.get(f"{INVITES}/{second_invite}"))["status"] == "withdrawn"
    assert refusal(me.patch(f"{INVITES}/{second_invite}", {"status": "declined"})) == (410, "INVITE_WITHDRAWN")
    refused = owner.post(f"/api/events/{new_event['id']}/directory-invites", {"merchantIds": [merchant.id]})
    assert refusal(refused) == (409, "EVENT_CLOSED")


def test_merchant_invited_already_is_reported_and_not_invited_twice(client: Client) -> None:
    owner = organiser(client)
    new_event, first_merchant, second_merchant = event(owner), merchant_account(), merchant_account()
    unverified_merchant = merchant_account(verified=False)
    first = invited(owner, new_event["id"], first_merchant)["invited"][0]
    response = invited(owner, new_event["id"], first_merchant, second_merchant, second_merchant, unverified_merchant)
    assert [item["merchantId"] for item in response["invited"]] == [second_merchant.id]
    assert response["alreadyInvited"] == [first]
    assert response["unavailable"] == [unverified_merchant.id]
    body = {"merchantIds": [first_merchant.id, "nobody"], "withdraw": True}
    withdrawn = data(owner.post(f"/api/events/{new_event['id']}/directory-invites", body), 201)
    assert [item["merchantId"] for item in withdrawn["withdrawn"]] == [first_merchant.id]
    assert refusal(
        signed_in(client, first_merchant).patch(f"{INVITES}/{first['inviteId']}", {"status": "accepted"})
    ) == (
        410,
        "INVITE_WITHDRAWN",
    )


def test_automatic_acceptance_needs_an_invitation_without_fee(client: Client) -> None:
    owner, merchant = organiser(client), merchant_account()
    me = signed_in(client, merchant)
    changed(me, settings={"autoAcceptInvites": True})
    free_event, paid_event = event(owner), event(owner)
    assert invited(owner, free_event["id"], merchant)["invited"][0]["status"] == "accepted"
    assert invited(owner, paid_event["id"], merchant, feeMinor=1)["invited"][0]["status"] == "pending"
    assert [item["id"] for item in data(me.get("/api/merchants/me/events"))["events"]] == [free_event["id"]]
    assert {item["subject"].partition(": ")[2] for item in mails_to(merchant.email)} == {
        "you take part",
        "you are invited",
    }


def test_paused_merchant_can_only_decline(client: Client) -> None:
    owner, merchant = organiser(client), merchant_account()
    me = signed_in(client, merchant)
    invite = invited(owner, event(owner)["id"], merchant)["invited"][0]["inviteId"]
    data(me.post("/api/merchants/me/pause"))
    assert refusal(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (409, "MERCHANT_PAUSED")
    assert invited(owner, event(owner)["id"], merchant)["unavailable"] == [merchant.id]
    assert answered(me, invite, "declined")["status"] == "declined"


def test_invalid_invitations_are_refused(client: Client) -> None:
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}"
    assert problems(owner.post(f"{path}/directory-invites")) == {"merchantIds": "required"}
    assert problems(owner.post(f"{path}/directory-invites", {"merchantIds": []})) == {"merchantIds": "too_short"}
    invalid_invites = {"merchantIds": ["a"] * 201, "feeMinor": -1, "message": "x" * 1001}
    assert set(problems(owner.post(f"{path}/directory-invites", invalid_invites))) == {
        "merchantIds",
        "feeMinor",
        "message",
    }
    past_link = {"expiresAt": "2020-01-01", "maxUses": 1}
    assert problems(owner.post(f"{path}/merchant-invite", past_link)) == {"expiresAt": "too_early"}
    invalid_link = {"maxUses": 0, "email": "nobody", "fee": 1}
    assert set(problems(owner.post(f"{path}/merchant-invite", invalid_link))) == {"maxUses", "email", "fee"}


def test_only_the_organiser_of_the_event_invites(client: Client) -> None:
    new_event = event(organiser(client))
    path = f"/api/events/{new_event['id']}"
    stranger, analyst = organiser(client), signed_in(client, account("admin", admin_tier="analyst"))
    body = {"merchantIds": [merchant_account().id]}
    assert refusal(stranger.get(f"{path}/merchant-directory")) == (404, "NOT_FOUND")
    assert refusal(stranger.post(f"{path}/directory-invites", body)) == (404, "NOT_FOUND")
    assert refusal(stranger.post(f"{path}/merchant-invite", {})) == (404, "NOT_FOUND")
    assert analyst.get(f"{path}/merchant-directory").status_code == 200
    assert refusal(analyst.post(f"{path}/merchant-invite", {})) == (403, "ROLE_NOT_ALLOWED")
    assert refusal(signed_in(client, merchant_account()).get(f"{path}/merchant-directory"))[0] == 403


def test_link_shows_event_and_terms_until_it_ends(client: Client) -> None:
    owner = organiser(client)
    new_event = event(owner)
    body = {"email": "Stall@Example.com", "businessName": "Kapana", "stallType": "Food", "feeMinor": 5, "message": "Hi"}
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite", body), 201)
    assert (link["state"], link["mailed"], link["maxUses"]) == ("open", True, 1)
    (mail,) = mails_to("stall@example.com")
    assert link["url"] in mail["text"] and "apply for a stall" in mail["subject"]
    path = f"/api/events/merchant-invite/{link['slug']}"
    public_link = data(client.get(path))
    assert (public_link["eventName"], public_link["feeMinor"], public_link["state"]) == (new_event["name"], 5, "open")
    assert "email" not in public_link
    other_slug = link["slug"][:-1] + ("A" if link["slug"][-1] != "A" else "B")
    assert refusal(client.get(f"/api/events/merchant-invite/{other_slug}")) == (404, "NOT_FOUND")
    revoked = owner.post(f"/api/events/{new_event['id']}/merchant-invite", {"slug": link["slug"], "revoke": True})
    assert data(revoked, 201)["state"] == "withdrawn"
    assert refusal(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_link_works_for_a_draft_and_ends_with_the_event(client: Client) -> None:
    owner = organiser(client)
    new_event = published(owner)
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite"), 201)
    path = f"/api/events/merchant-invite/{link['slug']}"
    assert (data(client.get(path))["feeMinor"], link["maxUses"]) == (None, None)
    event_changed(owner, new_event, visibility="archived")
    assert refusal(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_terms_of_an_application_and_the_uses_of_a_link(client: Client) -> None:
    owner = organiser(client)
    new_event = event(owner)
    link = data(owner.post(f"/api/events/{new_event['id']}/merchant-invite", {"maxUses": 2, "feeMinor": 9}), 201)
    terms = queries.get_application_terms(link["slug"])
    assert (terms.event_id, terms.fee_minor, terms.link_id) == (new_event["id"], 9, link["id"])
    for _ in range(2):
        with transaction() as session:
            count_link_use(session, terms.link_id)
    with pytest.raises(InviteUsed), transaction() as session:
        count_link_use(session, terms.link_id)
    assert refusal(client.get(f"/api/events/merchant-invite/{link['slug']}")) == (410, "INVITE_USED")


def test_deletion_withdraws_invitations_and_removes_from_the_directory(client: Client) -> None:
    owner, merchant = organiser(client), merchant_account()
    me, new_event = signed_in(client, merchant), event(owner)
    invited(owner, new_event["id"], merchant)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    deliver()
    with transaction() as session:
        assert session.scalars(text("SELECT status FROM event_invite")).all() == ["withdrawn"]
    assert list_names(owner.get(f"/api/events/{new_event['id']}/merchant-directory")) == []


def test_no_operation_needs_more_than_six_statements(client: Client) -> None:
    owner = organiser(client)
    new_event, merchant = event(owner), [merchant_account() for _ in range(3)]
    changed(signed_in(client, merchant[0]), settings={"autoAcceptInvites": True})
    path, me = f"/api/events/{new_event['id']}", signed_in(client, merchant[1])
    invite = invited(owner, new_event["id"], merchant[1])["invited"][0]["inviteId"]
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
        with statements() as public_link:
            assert call().status_code in (200, 201)
        assert len(public_link) <= 6, "\n".join(public_link)
