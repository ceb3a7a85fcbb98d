"""Members: invitations, roles, removal, and passing the ownership on."""

import re
from typing import Any

from app.accounts.models import Account
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to
from tests.factories.allocations import create_block
from tests.factories.events import build_event_body, create_event
from tests.factories.payouts import create_earning_merchant
from tests.http import Client, data, read_error

MEMBERS = "/api/organisations/me/members"


def invite(owner: Client, email: str, role: str = "manager", **fields: Any) -> dict[str, Any]:
    return data(owner.post(MEMBERS, {"email": email, "role": role, **fields}), 201)


def find_token(email: str) -> str:
    """The token in the newest invitation to the address."""
    text = next(mail["text"] for mail in list_mails_to(email) if "/join/" in mail["text"])
    match = re.search(r"/join/([\w-]+)", text)
    assert match
    return match[1]


def accept(client: Client, account: Account) -> Client:
    member = create_signed_in_client(client, account)
    data(member.post(f"/api/team-invites/{find_token(account.email)}/accept"))
    return member


def create_team(client: Client, role: str = "manager", **fields: Any) -> tuple[Client, Client, Account]:
    """An owner, a member with the role, and the member's account."""
    owner = create_signed_in_client(client, create_account("organiser"))
    account = create_account("customer")
    invite(owner, account.email, role, **fields)
    return owner, accept(client, account), account


def find_member(owner: Client, account: Account) -> str:
    """The id of the membership of this account in the owner's organisation."""
    members: list[dict[str, str]] = data(owner.get(MEMBERS))["members"]
    return next(row["id"] for row in members if row["accountId"] == account.id)


def test_a_member_works_with_the_events_of_the_organisation(client: Client) -> None:
    owner, manager, _ = create_team(client)
    event = create_event(owner)
    assert data(manager.get(f"/api/events/{event['id']}"))["name"] == event["name"]
    made = data(manager.post("/api/events", build_event_body()), 201)
    assert made["organiserId"] == event["organiserId"]
    assert {row["id"] for row in data(manager.get("/api/events?mine=true"))["events"]} == {event["id"], made["id"]}


def test_the_invitation_says_which_team_and_works_once(client: Client) -> None:
    owner, newcomer = create_signed_in_client(client, create_account("organiser", name="Lights")), create_account()
    invite(owner, newcomer.email, "door")
    token = find_token(newcomer.email)
    shown = data(client.get(f"/api/team-invites/{token}"))
    assert (shown["teamName"], shown["role"], shown["email"]) == ("Lights", "door", newcomer.email)
    accept(client, newcomer)
    again = create_signed_in_client(client, newcomer).post(f"/api/team-invites/{token}/accept")
    assert read_error(again) == (410, "LINK_USED")


def test_another_account_cannot_accept(client: Client) -> None:
    owner, newcomer = create_signed_in_client(client, create_account("organiser")), create_account()
    invite(owner, newcomer.email)
    thief = create_signed_in_client(client, create_account())
    assert read_error(thief.post(f"/api/team-invites/{find_token(newcomer.email)}/accept")) == (
        409,
        "INVITE_FOR_ANOTHER_ADDRESS",
    )


def test_an_unverified_address_cannot_accept(client: Client) -> None:
    owner, newcomer = create_signed_in_client(client, create_account("organiser")), create_account(verified=False)
    invite(owner, newcomer.email)
    me = create_signed_in_client(client, newcomer)
    assert read_error(me.post(f"/api/team-invites/{find_token(newcomer.email)}/accept"))[0] == 409


def test_a_new_invitation_replaces_the_old_one(client: Client) -> None:
    owner, newcomer = create_signed_in_client(client, create_account("organiser")), create_account()
    invite(owner, newcomer.email, "door")
    old = find_token(newcomer.email)
    invite(owner, newcomer.email, "stock")
    me = create_signed_in_client(client, newcomer)
    assert read_error(me.post(f"/api/team-invites/{old}/accept")) == (410, "LINK_EXPIRED")
    assert [row["role"] for row in data(owner.get(MEMBERS))["invitations"]] == ["stock"]


def test_a_withdrawn_invitation_is_dead(client: Client) -> None:
    owner, newcomer = create_signed_in_client(client, create_account("organiser")), create_account()
    sent = invite(owner, newcomer.email)
    token = find_token(newcomer.email)
    for _ in range(2):
        data(owner.delete(f"{MEMBERS}/{sent['id']}"))
    assert read_error(client.get(f"/api/team-invites/{token}")) == (410, "LINK_EXPIRED")


def test_a_member_cannot_be_invited_again(client: Client) -> None:
    owner, _, account = create_team(client)
    refused = owner.post(MEMBERS, {"email": account.email, "role": "door"})
    assert read_error(refused) == (409, "ALREADY_MEMBER")


def test_a_changed_role_counts_from_the_next_request(client: Client) -> None:
    owner, member, account = create_team(client)
    event = create_event(owner)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    assert data(owner.patch(f"{MEMBERS}/{row['id']}", {"role": "door"}))["role"] == "door"
    assert read_error(member.patch(f"/api/events/{event['id']}", {"name": "New"})) == (403, "ROLE_NOT_ALLOWED")
    data(member.get(f"/api/events/{event['id']}/allocations/will-call"))


def test_a_removed_member_loses_everything_at_once(client: Client) -> None:
    owner, member, account = create_team(client)
    event = create_event(owner)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(owner.delete(f"{MEMBERS}/{row['id']}"))
    assert read_error(member.get(f"/api/events/{event['id']}")) == (403, "ROLE_NOT_ALLOWED")
    assert data(member.get("/api/auth/me"))["id"] == account.id


def test_a_role_for_one_event_reaches_no_other(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    first, second, account = create_event(owner), create_event(owner), create_account()
    invite(owner, account.email, "manager", eventIds=[first["id"]])
    member = accept(client, account)
    data(member.patch(f"/api/events/{first['id']}", {"name": "Renamed"}))
    assert read_error(member.get(f"/api/events/{second['id']}")) == (404, "NOT_FOUND")
    assert read_error(member.post("/api/events", build_event_body())) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(member.get(MEMBERS)) == (403, "ROLE_NOT_ALLOWED")
    assert [row["id"] for row in data(member.get("/api/events?mine=true"))["events"]] == [first["id"]]


def test_events_of_others_are_refused_in_an_invitation(client: Client) -> None:
    owner, stranger = (create_signed_in_client(client, create_account("organiser")) for _ in range(2))
    foreign = create_event(stranger)
    refused = owner.post(MEMBERS, {"email": "a@example.com", "role": "door", "eventIds": [foreign["id"]]})
    assert read_error(refused) == (422, "VALIDATION_FAILED")
    assert refused.get_json()["data"]["errors"][0]["path"] == "eventIds[0]"


def test_a_member_of_two_organisations_chooses_one(client: Client) -> None:
    account = create_account()
    owners = [create_signed_in_client(client, create_account("organiser")) for _ in range(2)]
    for owner in owners:
        invite(owner, account.email)
        member = accept(client, account)
    teams = data(member.get("/api/auth/memberships"))["memberships"]
    for_one = [member.with_(Team_Id=team["teamId"]) for team in teams]
    counted = [data(each.get(MEMBERS))["members"] for each in for_one]
    assert [len(members) for members in counted] == [2, 2] and counted[0] != counted[1]
    made = [data(each.post("/api/events", build_event_body()), 201)["organiserId"] for each in for_one]
    assert made == [team["teamId"] for team in teams]
    assert len(data(member.get("/api/events?mine=true"))["events"]) == 2
    assert len(data(for_one[1].get("/api/events?mine=true"))["events"]) == 1
    key = {"Idempotency_Key": "made-once-only"}
    body = build_event_body()
    data(for_one[0].with_(**key).post("/api/events", body), 201)
    assert read_error(for_one[1].with_(**key).post("/api/events", body)) == (409, "IDEMPOTENCY_KEY_REUSED")
    elsewhere = member.with_(Team_Id=create_account("organiser").id)
    assert read_error(elsewhere.get(MEMBERS)) == (403, "ROLE_NOT_ALLOWED")


def test_a_member_of_two_merchants_acts_for_one(client: Client) -> None:
    """A cashier of the first and a manager of the second requests no payout of the second by mistake."""
    account, ids = create_account(), []
    for role in ("cashier", "manager"):
        merchant, owner = create_earning_merchant(client, 100_000)
        ids.append(owner.id)
        data(merchant.post("/api/merchants/me/members", {"email": account.email, "role": role}), 201)
        member = accept(client, account)
    second = member.with_(Team_Id=ids[1])
    assert [data(each.get("/api/merchants/me"))["id"] for each in (member, second)] == ids
    assert read_error(member.get("/api/merchants/me/payout-requests")) == (403, "ROLE_NOT_ALLOWED")
    assert data(second.get("/api/merchants/me/payout-requests"))["payoutRequests"] == []


def test_a_member_can_leave(client: Client) -> None:
    owner, member, _ = create_team(client)
    (own,) = data(member.get("/api/auth/memberships"))["memberships"]
    data(member.delete(f"/api/auth/memberships/{own['id']}"))
    assert read_error(member.get(MEMBERS)) == (403, "ROLE_NOT_ALLOWED")
    assert len(data(owner.get(MEMBERS))["members"]) == 1


def pass_ownership(client: Client) -> tuple[Client, Client, Account]:
    owner, member, account = create_team(client)
    take_over(owner, member, account)
    return owner, member, account


def take_over(owner: Client, member: Client, account: Account) -> None:
    """Passes the ownership on to the member with this account."""
    path = f"{MEMBERS}/{find_member(owner, account)}/offer-ownership"
    data(owner.post(path, {"password": PASSWORD}), 201)
    data(member.post(f"/api/team-invites/{find_token(account.email)}/accept"))


def test_the_ownership_passes_when_both_confirm(client: Client) -> None:
    former, owner, account = pass_ownership(client)
    roles = {row["accountId"]: row["role"] for row in data(owner.get(MEMBERS))["members"]}
    assert roles[account.id] == "owner" and sorted(roles.values()) == ["manager", "owner"]
    assert read_error(former.post(MEMBERS, {"email": "a@example.com", "role": "door"})) == (403, "ROLE_NOT_ALLOWED")
    event = create_event(former)
    assert data(owner.get(f"/api/events/{event['id']}"))["id"] == event["id"]
    invite(owner, "new@example.com", "viewer")


def test_the_ownership_does_not_pass_without_the_password(client: Client) -> None:
    owner, _, account = create_team(client)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    refused = owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": "not the password"})
    assert read_error(refused) == (422, "CURRENT_PASSWORD_WRONG")


def test_the_owner_cannot_be_changed_or_removed(client: Client) -> None:
    owner, _, _ = create_team(client)
    own = data(owner.get(MEMBERS))["members"][0]
    assert own["role"] == "owner"
    assert read_error(owner.delete(f"{MEMBERS}/{own['id']}")) == (409, "OWNER_ROLE_FIXED")
    assert read_error(owner.patch(f"{MEMBERS}/{own['id']}", {"role": "door"})) == (409, "OWNER_ROLE_FIXED")


def test_a_former_owner_does_not_get_the_team_back_by_registering(client: Client) -> None:
    former, owner, _ = pass_ownership(client)
    email = data(former.get("/api/auth/me"))["email"]
    body = {"email": email, "password": PASSWORD, "name": "Me", "orgName": "Again"}
    assert read_error(former.post("/api/auth/register/organiser", body)) == (409, "OWNERSHIP_PASSED")
    assert "organiser" not in data(former.get("/api/auth/me"))["roles"]
    assert len([row for row in data(owner.get(MEMBERS))["members"] if row["role"] == "owner"]) == 1


def test_a_cashier_runs_the_stall_and_sees_no_money(client: Client) -> None:
    merchant = create_signed_in_client(client, create_account("merchant"))
    account = create_account()
    data(merchant.post("/api/merchants/me/members", {"email": account.email, "role": "cashier"}), 201)
    cashier = accept(client, account)
    owner_id = data(merchant.get("/api/merchants/me"))["id"]
    details = {"destination": "payrail", "msisdn": "+264811234567"}
    data(merchant.patch("/api/merchants/me", {"phone": "+264811234567", "payoutDetails": details, "settings": {}}))
    seen = data(cashier.get("/api/merchants/me"))
    assert seen["id"] == owner_id and "phone" not in seen and not any(seen["payoutDetails"].values())
    assert data(cashier.patch("/api/merchants/me/pos-floor-status", {"status": "busy"}))["status"] == "busy"
    assert read_error(cashier.get("/api/merchants/me/payout-requests")) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(cashier.patch("/api/merchants/me", {})) == (403, "ROLE_NOT_ALLOWED")


def test_nobody_is_invited_as_the_owner(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    assert read_error(owner.post(MEMBERS, {"email": "a@example.com", "role": "owner"})) == (422, "VALIDATION_FAILED")


def test_an_offer_of_the_ownership_ends_with_the_membership(client: Client) -> None:
    owner, member, account = create_team(client)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
    token = find_token(account.email)
    data(owner.delete(f"{MEMBERS}/{row['id']}"))
    assert read_error(member.post(f"/api/team-invites/{token}/accept")) == (410, "LINK_EXPIRED")


def test_a_manager_pays_to_no_new_destination(client: Client) -> None:
    merchant, _ = create_earning_merchant(client, 100_000)
    account = create_account()
    data(merchant.post("/api/merchants/me/members", {"email": account.email, "role": "manager"}), 201)
    manager = accept(client, account)
    body = {"amountMinor": 5000, "destination": "payrail", "mode": "now", "payrailMsisdn": "+264819999999"}
    refused = manager.post("/api/merchants/me/payout-requests", {**body, "password": PASSWORD})
    assert read_error(refused) == (409, "OWNER_MUST_CONFIRM")


def test_a_change_of_role_ends_the_offer_of_the_ownership(client: Client) -> None:
    owner, member, account = create_team(client)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
    token = find_token(account.email)
    data(owner.patch(f"{MEMBERS}/{row['id']}", {"role": "viewer"}))
    assert read_error(member.post(f"/api/team-invites/{token}/accept")) == (410, "LINK_EXPIRED")
    assert data(owner.get(MEMBERS))["invitations"] == []


def test_a_repeated_request_does_not_outlive_the_role(client: Client) -> None:
    block = create_block(client)
    account = create_account()
    invite(block.owner, account.email)
    member = accept(client, account).with_(Idempotency_Key="made-once-only")
    codes = data(member.post(f"{block.path}/codes", {"count": 2}), 201)
    assert data(member.post(f"{block.path}/codes", {"count": 2}), 201) == codes
    elsewhere = create_event(block.owner)
    row = next(row for row in data(block.owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(block.owner.patch(f"{MEMBERS}/{row['id']}", {"eventIds": [elsewhere["id"]]}))
    refused = member.post(f"{block.path}/codes", {"count": 2})
    assert read_error(refused) == (409, "IDEMPOTENCY_GRANT_CHANGED") and codes["codes"][0]["code"] not in refused.text


def test_a_refusal_names_the_roles_in_teams(client: Client) -> None:
    _, member, _ = create_team(client, "viewer")
    refused = member.post("/api/events", build_event_body())
    assert refused.get_json()["message"].endswith("The roles of your account: customer, viewer in a team.")


def test_an_admin_names_no_team_that_they_are_not_in(client: Client) -> None:
    admin = create_signed_in_client(client, create_account("admin")).with_(Team_Id=create_account("organiser").id)
    assert read_error(admin.post("/api/events", build_event_body())) == (403, "ROLE_NOT_ALLOWED")
    assert read_error(admin.get("/api/organisations/me/audit")) == (403, "ROLE_NOT_ALLOWED")
