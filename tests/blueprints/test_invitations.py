"""Invitations over HTTP: the directory, invitations both ways, links, participation, floor status."""

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


def later(statement: str) -> None:
    """Changes what only time changes."""
    with transaction() as session:
        session.execute(text(statement))


def names(answer: Any) -> list[str]:
    return [merchant["businessName"] for merchant in data(answer)["merchants"]]


def test_the_directory_shows_active_verified_merchants_and_nothing_private(client: Client) -> None:
    owner = organiser(client)
    made = event(owner)
    merchant_account("Kapana Corner", phone="+264811234567", profile={"city": "Windhoek", "category": "Food"})
    merchant_account("Not Verified", verified=False)
    paused = merchant_account("Paused")
    data(signed_in(client, paused).post("/api/merchants/me/pause"))
    (row,) = data(owner.get(f"/api/events/{made['id']}/merchant-directory"))["merchants"]
    assert set(row) == {"id", "businessName", "stallName", "category", "city", "inviteStatus", "takesPart"}
    assert (row["businessName"], row["city"], row["inviteStatus"], row["takesPart"]) == (
        "Kapana Corner",
        "Windhoek",
        None,
        False,
    )


def test_the_directory_is_searched_without_case_and_accents(client: Client) -> None:
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}/merchant-directory"
    merchant_account("Café Ågren", profile={"city": "Lüderitz", "category": "Food & Drinks"})
    merchant_account("Łódź Pierogi", profile={"city": "Windhoek", "category": "food-drinks", "stall_name": "Gate B"})
    merchant_account("Omuramba Crafts", profile={"city": "windhoek", "category": "crafts"})
    asked = {
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
    for query, wanted in asked.items():
        assert names(owner.get(f"{path}?{query}")) == wanted, query


def test_the_directory_is_paged_without_gaps(client: Client) -> None:
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}/merchant-directory"
    for number in range(7):
        merchant_account(f"Stall {number % 3}")
    seen: list[str] = []
    page = data(owner.get(f"{path}?limit=2&withTotal=true"))
    assert page["pagination"]["total"] == 7
    while page["pagination"]["nextCursor"]:
        seen += [merchant["id"] for merchant in page["merchants"]]
        page = data(owner.get(f"{path}?limit=2&cursor={page['pagination']['nextCursor']}"))
    assert len(set(seen + [merchant["id"] for merchant in page["merchants"]])) == 7


def test_an_invitation_goes_out_comes_back_and_makes_a_participant(client: Client) -> None:
    owner_account = account("organiser")
    owner, who = signed_in(client, owner_account), merchant_account("Kapana Corner")
    me = signed_in(client, who)
    made = published(owner, stallTypes=[{"name": "Food stall", "feeMinor": 150000}])
    sent = invited(owner, made["id"], who, stallType="food stall", message="Come to gate B.")
    assert [(item["merchantId"], item["status"]) for item in sent["invited"]] == [(who.id, "pending")]
    (mail,) = mails_to(who.email)
    assert "you are invited" in mail["subject"] and "N$\u00a01\u202f500.00" in mail["text"]
    (row,) = data(me.get(f"{INVITES}?status=pending"))["invites"]
    assert (row["feeMinor"], row["eventId"], row["expiresAt"]) == (150000, made["id"], made["endsAt"])
    assert data(me.get("/api/merchants/me/events"))["events"] == []
    body = {"status": "accepted", "message": "Gladly."}
    answer = me.patch(f"{INVITES}/{row['id']}", body, headers={"If-Match": f'"{row["version"]}"'})
    assert (data(answer)["status"], data(answer)["reply"]) == ("accepted", "Gladly.")
    assert answer.headers["ETag"] == me.get(f"{INVITES}/{row['id']}").headers["ETag"]
    (taken,) = data(me.get("/api/merchants/me/events"))["events"]
    assert (taken["id"], taken["feeMinor"], taken["floorStatus"]) == (made["id"], 150000, "closed")
    assert mails_to(owner_account.email)[0]["subject"] == "Kapana Corner takes part"
    (shown,) = data(owner.get(f"/api/events/{made['id']}/merchant-directory"))["merchants"]
    assert (shown["inviteStatus"], shown["takesPart"]) == ("accepted", True)


def test_the_same_answer_twice_is_the_same_and_the_other_one_comes_too_late(client: Client) -> None:
    owner_account, who = account("organiser"), merchant_account()
    owner, me = signed_in(client, owner_account), signed_in(client, who)
    invite = invited(owner, event(owner)["id"], who)["invited"][0]["inviteId"]
    assert answered(me, invite) == answered(me, invite)
    assert len([item for item in mails_to(owner_account.email) if "takes part" in item["subject"]]) == 1
    refused = me.patch(f"{INVITES}/{invite}", {"status": "declined"})
    assert refusal(refused) == (409, "INVITE_DECIDED")
    stale = me.patch(f"{INVITES}/{invite}", {"status": "accepted"}, headers={"If-Match": '"1"'})
    assert refusal(stale) == (412, "STALE_VERSION")
    assert problems(me.patch(f"{INVITES}/{invite}", {"status": "withdrawn"})) == {"status": "unknown_value"}


def test_somebody_elses_invitation_does_not_exist(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    invite = invited(owner, event(owner)["id"], who)["invited"][0]["inviteId"]
    other = signed_in(client, merchant_account())
    for answer in (
        other.get(f"{INVITES}/{invite}"),
        other.patch(f"{INVITES}/{invite}", {"status": "accepted"}),
        other.get(f"{INVITES}/nonsense"),
    ):
        assert refusal(answer) == (404, "NOT_FOUND")
    assert data(other.get(INVITES))["invites"] == []


def test_an_invitation_ends_with_its_time_and_with_its_event(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me = signed_in(client, who)
    made = event(owner)
    invite = invited(owner, made["id"], who, expiresAt="2027-01-01")["invited"][0]["inviteId"]
    later("UPDATE event_invite SET expires_at = now()")
    assert data(me.get(f"{INVITES}/{invite}"))["status"] == "expired"
    assert refusal(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (410, "INVITE_EXPIRED")
    again = invited(owner, made["id"], who)["invited"][0]["inviteId"]
    assert again != invite
    data(owner.delete(f"/api/events/{made['id']}"))
    assert data(me.get(f"{INVITES}/{again}"))["status"] == "withdrawn"
    assert refusal(me.patch(f"{INVITES}/{again}", {"status": "declined"})) == (410, "INVITE_WITHDRAWN")
    refused = owner.post(f"/api/events/{made['id']}/directory-invites", {"merchantIds": [who.id]})
    assert refusal(refused) == (409, "EVENT_CLOSED")


def test_who_is_invited_already_is_reported_and_not_doubled(client: Client) -> None:
    owner = organiser(client)
    made, one, two = event(owner), merchant_account(), merchant_account()
    hidden = merchant_account(verified=False)
    first = invited(owner, made["id"], one)["invited"][0]
    answer = invited(owner, made["id"], one, two, two, hidden)
    assert [item["merchantId"] for item in answer["invited"]] == [two.id]
    assert answer["alreadyInvited"] == [first]
    assert answer["unavailable"] == [hidden.id]
    body = {"merchantIds": [one.id, "nobody"], "withdraw": True}
    withdrawn = data(owner.post(f"/api/events/{made['id']}/directory-invites", body), 201)
    assert [item["merchantId"] for item in withdrawn["withdrawn"]] == [one.id]
    assert refusal(signed_in(client, one).patch(f"{INVITES}/{first['inviteId']}", {"status": "accepted"})) == (
        410,
        "INVITE_WITHDRAWN",
    )


def test_accepting_by_itself_takes_part_at_once_unless_there_is_a_fee(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me = signed_in(client, who)
    changed(me, settings={"autoAcceptInvites": True})
    free, dear = event(owner), event(owner)
    assert invited(owner, free["id"], who)["invited"][0]["status"] == "accepted"
    assert invited(owner, dear["id"], who, feeMinor=1)["invited"][0]["status"] == "pending"
    assert [item["id"] for item in data(me.get("/api/merchants/me/events"))["events"]] == [free["id"]]
    assert {item["subject"].partition(": ")[2] for item in mails_to(who.email)} == {"you take part", "you are invited"}


def test_a_paused_merchant_cannot_accept_but_decline(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me = signed_in(client, who)
    invite = invited(owner, event(owner)["id"], who)["invited"][0]["inviteId"]
    data(me.post("/api/merchants/me/pause"))
    assert refusal(me.patch(f"{INVITES}/{invite}", {"status": "accepted"})) == (409, "MERCHANT_PAUSED")
    assert invited(owner, event(owner)["id"], who)["unavailable"] == [who.id]
    assert answered(me, invite, "declined")["status"] == "declined"


def test_what_an_invitation_may_say_is_bounded(client: Client) -> None:
    owner = organiser(client)
    path = f"/api/events/{event(owner)['id']}"
    assert problems(owner.post(f"{path}/directory-invites")) == {"merchantIds": "required"}
    assert problems(owner.post(f"{path}/directory-invites", {"merchantIds": []})) == {"merchantIds": "too_short"}
    many = {"merchantIds": ["a"] * 201, "feeMinor": -1, "message": "x" * 1001}
    assert set(problems(owner.post(f"{path}/directory-invites", many))) == {"merchantIds", "feeMinor", "message"}
    past = {"expiresAt": "2020-01-01", "maxUses": 1}
    assert problems(owner.post(f"{path}/merchant-invite", past)) == {"expiresAt": "too_early"}
    wrong = {"maxUses": 0, "email": "nobody", "fee": 1}
    assert set(problems(owner.post(f"{path}/merchant-invite", wrong))) == {"maxUses", "email", "fee"}


def test_inviting_is_for_the_owner_of_the_event(client: Client) -> None:
    made = event(organiser(client))
    path = f"/api/events/{made['id']}"
    stranger, analyst = organiser(client), signed_in(client, account("admin", admin_tier="analyst"))
    body = {"merchantIds": [merchant_account().id]}
    assert refusal(stranger.get(f"{path}/merchant-directory")) == (404, "NOT_FOUND")
    assert refusal(stranger.post(f"{path}/directory-invites", body)) == (404, "NOT_FOUND")
    assert refusal(stranger.post(f"{path}/merchant-invite", {})) == (404, "NOT_FOUND")
    assert analyst.get(f"{path}/merchant-directory").status_code == 200
    assert refusal(analyst.post(f"{path}/merchant-invite", {})) == (403, "ROLE_NOT_ALLOWED")
    assert refusal(signed_in(client, merchant_account()).get(f"{path}/merchant-directory"))[0] == 403


def test_a_link_shows_event_and_terms_until_it_ends(client: Client) -> None:
    owner = organiser(client)
    made = event(owner)
    body = {"email": "Stall@Example.com", "businessName": "Kapana", "stallType": "Food", "feeMinor": 5, "message": "Hi"}
    sent = data(owner.post(f"/api/events/{made['id']}/merchant-invite", body), 201)
    assert (sent["state"], sent["mailed"], sent["maxUses"]) == ("open", True, 1)
    (mail,) = mails_to("stall@example.com")
    assert sent["url"] in mail["text"] and "apply for a stall" in mail["subject"]
    path = f"/api/events/merchant-invite/{sent['slug']}"
    seen = data(client.get(path))
    assert (seen["eventName"], seen["feeMinor"], seen["state"]) == (made["name"], 5, "open")
    assert "email" not in seen
    other = sent["slug"][:-1] + ("A" if sent["slug"][-1] != "A" else "B")
    assert refusal(client.get(f"/api/events/merchant-invite/{other}")) == (404, "NOT_FOUND")
    revoked = owner.post(f"/api/events/{made['id']}/merchant-invite", {"slug": sent["slug"], "revoke": True})
    assert data(revoked, 201)["state"] == "withdrawn"
    assert refusal(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_a_link_works_for_a_draft_and_dies_with_the_event(client: Client) -> None:
    owner = organiser(client)
    made = published(owner)
    sent = data(owner.post(f"/api/events/{made['id']}/merchant-invite"), 201)
    path = f"/api/events/merchant-invite/{sent['slug']}"
    assert (data(client.get(path))["feeMinor"], sent["maxUses"]) == (None, None)
    event_changed(owner, made, visibility="archived")
    assert refusal(client.get(path)) == (410, "INVITE_WITHDRAWN")


def test_the_terms_of_an_application_and_the_uses_of_a_link(client: Client) -> None:
    owner = organiser(client)
    made = event(owner)
    sent = data(owner.post(f"/api/events/{made['id']}/merchant-invite", {"maxUses": 2, "feeMinor": 9}), 201)
    terms = queries.get_application_terms(sent["slug"])
    assert (terms.event_id, terms.fee_minor, terms.link_id) == (made["id"], 9, sent["id"])
    for _ in range(2):
        with transaction() as session:
            count_link_use(session, terms.link_id)
    with pytest.raises(InviteUsed), transaction() as session:
        count_link_use(session, terms.link_id)
    assert refusal(client.get(f"/api/events/merchant-invite/{sent['slug']}")) == (410, "INVITE_USED")


def test_a_deleted_merchant_is_forgotten(client: Client) -> None:
    owner, who = organiser(client), merchant_account()
    me, made = signed_in(client, who), event(owner)
    invited(owner, made["id"], who)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    deliver()
    with transaction() as session:
        assert session.scalars(text("SELECT status FROM event_invite")).all() == ["withdrawn"]
    assert names(owner.get(f"/api/events/{made['id']}/merchant-directory")) == []


def test_no_operation_asks_more_than_six_times(client: Client) -> None:
    owner = organiser(client)
    made, who = event(owner), [merchant_account() for _ in range(3)]
    changed(signed_in(client, who[0]), settings={"autoAcceptInvites": True})
    path, me = f"/api/events/{made['id']}", signed_in(client, who[1])
    invite = invited(owner, made["id"], who[1])["invited"][0]["inviteId"]
    link = data(owner.post(f"{path}/merchant-invite", {"email": "a@example.com"}), 201)
    asked: list[Any] = [
        lambda: owner.get(f"{path}/merchant-directory?q=kapana&city=windhoek&withTotal=true"),
        lambda: owner.post(f"{path}/directory-invites", {"merchantIds": [item.id for item in who]}),
        lambda: owner.post(f"{path}/merchant-invite", {"email": "b@example.com"}),
        lambda: client.get(f"/api/events/merchant-invite/{link['slug']}"),
        lambda: me.get(f"{INVITES}?status=pending"),
        lambda: me.get(f"{INVITES}/{invite}"),
        lambda: me.patch(f"{INVITES}/{invite}", {"status": "accepted"}),
        lambda: me.get("/api/merchants/me/events"),
        lambda: me.patch(FLOOR, {"status": "open"}),
    ]
    for ask in asked:
        with statements() as seen:
            assert ask().status_code in (200, 201)
        assert len(seen) <= 6, "\n".join(seen)
