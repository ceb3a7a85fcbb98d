"""What a person made for an organisation: what ends with their role or account, and what works on."""

from collections.abc import Callable
from typing import Any

import pytest

from app.accounts.models import Account
from app.audit.actions import Action
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.audit.scenes import list_entries
from tests.blueprints.test_admin_accounts import ACCOUNTS, REASON, create_admin_client, suspend
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.teams.test_api_keys import KEYS, make_key
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import (
    MEMBERS,
    accept,
    create_team,
    find_member,
    find_token,
    invite,
    pass_ownership,
    take_over,
)

ENDED = (401, "SESSION_ENDED")
Team = tuple[Client, Client, Account]


def remove(owner: Client, account: Account, **query: str) -> dict[str, Any]:
    answer: dict[str, Any] = data(owner.delete(f"{MEMBERS}/{find_member(owner, account)}", query_string=query))
    return answer


def leave(client: Client, team: Team) -> None:
    (membership,) = data(team[1].get("/api/auth/memberships"))["memberships"]
    data(team[1].delete(f"/api/auth/memberships/{membership['id']}"))


def lower_role(client: Client, team: Team) -> None:
    owner, _, account = team
    data(owner.patch(f"{MEMBERS}/{find_member(owner, account)}", {"role": "door"}))


def limit_to_another_event(client: Client, team: Team) -> None:
    owner, _, account = team
    body = {"eventIds": [create_event(owner)["id"]]}
    data(owner.patch(f"{MEMBERS}/{find_member(owner, account)}", body))


def delete_account(client: Client, team: Team) -> None:
    execute_sql("UPDATE account SET deletion_due_at = now() WHERE id = :id", id=team[2].id)
    with transaction():
        enqueue("accounts.erase", account_id=team[2].id)
    run_jobs()


def suspend_account(client: Client, team: Team) -> None:
    suspend(create_admin_client(client), team[2].id)


LOSSES: list[Callable[[Client, Team], object]] = [
    lambda client, team: remove(team[0], team[2]),
    leave,
    lower_role,
    limit_to_another_event,
    delete_account,
    suspend_account,
]
LOSS_NAMES = ["remove", "leave", "lower_role", "limit_to_another_event", "delete_account", "suspend_account"]


@pytest.mark.parametrize("lose", LOSSES, ids=LOSS_NAMES)
def test_codes_end_with_the_permission_and_paired_devices_work_on(
    client: Client, lose: Callable[[Client, Team], object]
) -> None:
    owner, manager, account = team = create_team(client)
    event = create_event(owner)
    gate = pair(client, add_device(manager, event["id"])["pairingCode"])
    unused, of_owner = add_device(manager, event["id"]), add_device(owner, event["id"])
    lose(client, team)
    refused = client.post("/api/devices/pair", {"code": unused["pairingCode"]})
    assert read_error(refused) == (422, "CODE_INVALID")
    pair(client, of_owner["pairingCode"])
    data(gate.get(f"/api/events/{event['id']}"))
    ended = [entry["subject_id"] for entry in list_entries(Action.DEVICE_ENDED)]
    assert ended == ([] if lose is suspend_account else [unused["id"]])


def test_a_role_that_may_still_add_devices_keeps_the_code(client: Client) -> None:
    owner, manager, account = create_team(client)
    event = create_event(owner)
    code = add_device(manager, event["id"])["pairingCode"]
    data(owner.patch(f"{MEMBERS}/{find_member(owner, account)}", {"eventIds": [event["id"]]}))
    pair(client, code)


def test_the_lists_say_who_made_devices_and_keys(client: Client) -> None:
    owner, manager, account = create_team(client)
    event = create_event(owner)
    made, key = add_device(manager, event["id"]), make_key(owner, "gate")
    (device,) = data(owner.get(f"/api/events/{event['id']}/devices"))["devices"]
    assert made["createdBy"] == device["createdBy"] == {"accountId": account.id, "name": account.name}
    (listed,) = data(owner.get(KEYS))["apiKeys"]
    me = data(owner.get("/api/auth/me"))
    assert key["createdBy"] == listed["createdBy"] == {"accountId": me["id"], "name": me["name"]}
    remove(owner, account)
    assert data(owner.get(f"/api/events/{event['id']}/devices"))["devices"] == []


def find_membership(account_id: str) -> str:
    membership: str = fetch_scalar("SELECT id FROM team_member WHERE account_id = :id", id=account_id)
    return membership


def make_devices_and_keys(client: Client) -> dict[str, Any]:
    """A founder makes a key, two paired devices and more that do not work, and passes the ownership on."""
    owner, new_owner, account = create_team(client)
    founder, event_id = data(owner.get("/api/auth/me"))["id"], create_event(owner)["id"]
    key, expired = make_key(owner, "events:read"), make_key(owner, "events:read")
    execute_sql("UPDATE api_key SET expires_at = now() WHERE id = :id", id=expired["id"])
    take_over(owner, new_owner, account)
    devices = [pair(client, add_device(owner, event_id)["pairingCode"]) for _ in range(2)]
    add_device(owner, event_id)
    return {
        "path": f"/api/events/{event_id}",
        "callers": [client.as_(key["key"]), *devices],
        "others": [
            client.as_(make_key(new_owner, "events:read")["key"]),
            pair(client, add_device(new_owner, event_id)["pairingCode"]),
        ],
        "owner": new_owner,
        "member_path": f"{MEMBERS}/{find_membership(founder)}",
    }


def test_a_removal_says_what_still_works(client: Client) -> None:
    made = make_devices_and_keys(client)
    answer = data(made["owner"].delete(made["member_path"]))
    assert answer == {"workingDevices": 2, "workingApiKeys": 1, "endedDevices": 0, "endedApiKeys": 0}
    for caller in (*made["callers"], *made["others"]):
        data(caller.get(made["path"]))


def test_a_removal_can_end_devices_and_keys(client: Client) -> None:
    made = make_devices_and_keys(client)
    answer = data(made["owner"].delete(f"{made['member_path']}?endDevicesAndKeys=true"))
    assert answer == {"workingDevices": 0, "workingApiKeys": 0, "endedDevices": 2, "endedApiKeys": 2}
    for caller in made["callers"]:
        assert read_error(caller.get(made["path"])) == ENDED
    for caller in made["others"]:
        data(caller.get(made["path"]))
    assert len(list_entries(Action.DEVICE_ENDED)) == 3 and len(list_entries(Action.API_KEY_ENDED)) == 2
    assert {entry["organisation_id"] for entry in list_entries(Action.API_KEY_ENDED)} == {
        list_entries(Action.MEMBER_REMOVED)[0]["organisation_id"]
    }


def test_withdrawing_an_invitation_ends_nothing_else(client: Client) -> None:
    owner = create_signed_in_client(client, create_account("organiser"))
    answer = data(owner.delete(f"{MEMBERS}/{invite(owner, 'a@example.com')['id']}?endDevicesAndKeys=true"))
    assert set(answer.values()) == {0}


def test_invitations_end_with_the_person_who_sent_them(client: Client) -> None:
    former, owner, account = create_team(client)
    founder, guest = data(former.get("/api/auth/me"))["id"], create_account()
    invite(former, guest.email, "door")
    token = find_token(guest.email)
    take_over(former, owner, account)
    invite(owner, other := "other@example.com", "door")
    data(owner.delete(f"{MEMBERS}/{find_membership(founder)}"))
    me = create_signed_in_client(client, guest)
    assert read_error(me.post(f"/api/team-invites/{token}/accept")) == (410, "LINK_EXPIRED")
    assert [row["email"] for row in data(owner.get(MEMBERS))["invitations"]] == [other]
    assert len(list_entries(Action.MEMBER_INVITE_WITHDRAWN)) == 1
    invite(owner, guest.email, "door")
    accept(client, guest)


def test_the_present_owner_is_told_who_joined(client: Client) -> None:
    owner, member, account = create_team(client)
    founder, guest = data(owner.get("/api/auth/me")), create_account(name="Guest Who Joined")
    data(owner.post(f"{MEMBERS}/{find_member(owner, account)}/offer-ownership", {"password": PASSWORD}), 201)
    data(member.post(f"/api/team-invites/{find_token(account.email)}/accept"))
    assert is_told(founder["email"], account.email), "the founder is told that the ownership has passed"
    invite(member, guest.email, "door")
    data(create_signed_in_client(client, guest).post(f"/api/team-invites/{find_token(guest.email)}/accept"))
    assert is_told(account.email, guest.email) and not is_told(founder["email"], guest.email)


def is_told(email: str, about: str) -> bool:
    return any(about in mail["text"] and "/join/" not in mail["text"] for mail in list_mails_to(email))


def create_working_access(client: Client, owner: Client) -> tuple[list[Client], str]:
    """A device and a key of the owner's organisation, and a path that both may read."""
    event_id = create_event(owner)["id"]
    device = pair(client, add_device(owner, event_id)["pairingCode"])
    return [device, client.as_(make_key(owner, "events:read")["key"])], f"/api/events/{event_id}"


def test_devices_and_keys_wait_while_the_owner_is_suspended(client: Client) -> None:
    owner, admin = create_account("organiser"), create_admin_client(client)
    callers, path = create_working_access(client, create_signed_in_client(client, owner))
    suspend(admin, owner.id)
    for caller in callers:
        assert read_error(caller.get(path)) == ENDED
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", REASON))
    for caller in callers:
        data(caller.get(path))


def test_a_suspended_founder_stops_no_device_of_the_next_owner(client: Client) -> None:
    former, owner, account = pass_ownership(client)
    callers, path = create_working_access(client, owner)
    admin, founder = create_admin_client(client), data(former.get("/api/auth/me"))["id"]
    suspend(admin, founder)
    for caller in callers:
        data(caller.get(path))
    data(admin.post(f"{ACCOUNTS}/{founder}/restore", REASON))
    suspend(admin, account.id)
    for caller in callers:
        assert read_error(caller.get(path)) == ENDED


def test_a_deleted_organisation_ends_devices_keys_members_and_invitations(client: Client) -> None:
    organiser = create_account("organiser")
    owner = create_signed_in_client(client, organiser)
    callers, path = create_working_access(client, owner)
    guest, newcomer = create_account(), create_account()
    invite(owner, guest.email, "viewer")
    member = accept(client, guest)
    invite(owner, newcomer.email)
    execute_sql("UPDATE event SET starts_at = now() - interval '3 hours', ends_at = now() - interval '1 hour'")
    delete_account(client, (owner, owner, organiser))
    for caller in callers:
        assert read_error(caller.get(path)) == ENDED
    assert data(member.get("/api/auth/memberships"))["memberships"] == []
    joining = create_signed_in_client(client, newcomer).post(f"/api/team-invites/{find_token(newcomer.email)}/accept")
    assert read_error(joining) == (410, "LINK_EXPIRED")
    assert len(list_entries(Action.DEVICE_ENDED)) == len(list_entries(Action.API_KEY_ENDED)) == 1
    assert fetch_scalar("SELECT count(*) FROM device WHERE ended_at IS NULL") == 0


def test_a_retired_organisation_ends_devices_keys_and_invitations(client: Client) -> None:
    organiser = create_account("organiser")
    owner = create_signed_in_client(client, organiser)
    callers, path = create_working_access(client, owner)
    code = add_device(owner, path.rpartition("/")[2])["pairingCode"]
    invite(owner, "a@example.com")
    execute_sql("UPDATE account SET email_verified_at = NULL WHERE id = :id", id=organiser.id)
    names = {"firstName": "Tuli", "lastName": "Hamutenya", "password": PASSWORD}
    data(client.post("/api/auth/register/customer", {"email": organiser.email, **names}), 201)
    for caller in callers:
        assert read_error(caller.get(path)) == ENDED
    assert read_error(client.post("/api/devices/pair", {"code": code})) == (422, "CODE_INVALID")
    run_jobs()
    assert fetch_scalar("SELECT count(*) FROM device WHERE ended_at IS NULL") == 0
    assert fetch_scalar("SELECT count(*) FROM api_key WHERE ended_at IS NULL") == 0
    assert fetch_scalar("SELECT count(*) FROM team_invite WHERE ended_at IS NULL") == 0
