"""Races: a removed role, a pairing code used at once, the ownership passed at once."""

from collections import Counter
from functools import partial
from threading import Event as Signal
from typing import Any

import pytest
from sqlalchemy import select, true
from sqlalchemy.orm import Session

from app.accounts.models import Account
from app.accounts.permissions import Grant
from app.teams import queries, revocation
from app.teams.actions import devices, members
from app.teams.models import Device
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client
from tests.factories.events import create_event
from tests.factories.payouts import fetch_scalar
from tests.http import Client, data
from tests.races import repeat_while_busy, run_concurrently
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import MEMBERS, accept, create_team, find_member, find_token, invite
from tests.unguarded import without_rules

CALLS = 64


def work_during_removal(client: Client) -> tuple[list[int], list[int]]:
    """The statuses of 64 requests of a member: those that began before, and those after their removal was answered."""
    owner, member, account = create_team(client)
    event = create_event(owner)
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    removed = Signal()

    def call(number: int) -> tuple[bool, int]:
        if number == 0:
            repeat_while_busy(lambda: owner.delete(f"{MEMBERS}/{row['id']}"))
            removed.set()
            return False, 403
        if number % 2:
            assert removed.wait(timeout=90)
        began_after = removed.is_set()
        path = f"/api/events/{event['id']}"
        return began_after, repeat_while_busy(lambda: member.patch(path, {"name": f"Name {number}"})).status_code

    results = run_concurrently(CALLS, call)
    return [status for after, status in results if not after], [status for after, status in results if after]


def test_no_request_after_a_removal_succeeds(client: Client) -> None:
    before, after = work_during_removal(client)
    assert set(after) == {403} and len(after) >= CALLS // 2
    assert set(before) <= {200, 403}


@pytest.mark.control
def test_with_remembered_permissions_a_removed_member_would_go_on(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered: dict[Any, Grant] = {}
    resolve = queries_of_accounts().resolve_grant

    def resolve_once(permission: str, account_id: str, *roles_and_memberships: Any) -> Grant:
        grant = resolve(permission, account_id, *roles_and_memberships)
        return remembered.setdefault((permission, account_id), grant)

    monkeypatch.setattr(queries_of_accounts(), "resolve_grant", resolve_once)
    owner, member, account = create_team(client)
    event = create_event(owner)
    data(member.patch(f"/api/events/{event['id']}", {"name": "Before"}))
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(owner.delete(f"{MEMBERS}/{row['id']}"))
    assert member.patch(f"/api/events/{event['id']}", {"name": "After"}).status_code == 200


def queries_of_accounts() -> Any:
    from app.accounts import queries as account_queries

    return account_queries


def pair_at_once(client: Client) -> Counter[int]:
    owner = create_signed_in_client(client, create_account("organiser"))
    code = add_device(owner, create_event(owner)["id"])["pairingCode"]
    send = lambda: client.post("/api/devices/pair", {"code": code})  # noqa: E731
    return Counter(run_concurrently(16, lambda _: repeat_while_busy(send).status_code))


def test_a_pairing_code_pairs_one_device(client: Client) -> None:
    assert pair_at_once(client) == {200: 1, 422: 15}


@pytest.mark.control
def test_without_the_conditional_update_a_code_would_pair_several(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Found:
        """Reads the device first and changes it afterwards."""

        def __init__(self, entity: Any) -> None:
            self.statement = select(entity)

        def where(self, code: Any, *_: Any) -> "Found":
            self.statement = self.statement.where(code)
            return self

        def values(self, **_: Any) -> "Found":
            return self

        def returning(self, _: Any) -> Any:
            return self.statement

    monkeypatch.setattr(devices, "update", Found)
    assert pair_at_once(client)[200] > 1
    assert fetch_scalar("SELECT count(*) FROM device") == 1 and Device


def accept_at_once(client: Client) -> Counter[int]:
    """Two members to whom the ownership was offered one after the other accept both links at once."""
    owner, first, first_account = create_team(client)
    second_account = create_account()
    invite(owner, second_account.email, "manager")
    second = accept(client, second_account)
    links = []
    for account in (first_account, second_account):
        row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
        data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
        links.append(find_token(account.email))
    callers = [(first, links[0]), (second, links[1])] * 4

    def call(number: int) -> int:
        member, token = callers[number]
        return repeat_while_busy(lambda: member.post(f"/api/team-invites/{token}/accept")).status_code

    return Counter(run_concurrently(len(callers), call))


def count_owners() -> Any:
    return fetch_scalar(
        "SELECT (SELECT count(*) FROM team_member WHERE role = 'owner')"
        " + (SELECT count(*) FROM account WHERE 'organiser' = ANY(roles))"
    )


def test_an_organisation_has_one_owner_whatever_is_accepted_at_once(client: Client) -> None:
    assert accept_at_once(client) == {200: 1, 410: 7}
    assert count_owners() == 1


@pytest.mark.control
def test_without_the_lock_an_ownership_would_be_taken_twice(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_any(session: Session, token: str, *, lock: bool = False) -> Any:
        invite = session.scalars(
            select(members.TeamInvite).where(members.TeamInvite.token_hash == queries.fingerprint(token))
        ).one()
        return invite, ""

    monkeypatch.setattr(queries, "find_invite", find_any)
    monkeypatch.setattr(members, "_make_manager", lambda *_: None)
    with without_rules("uq_team_member_owner"):
        assert accept_at_once(client)[200] > 1
        assert count_owners() > 1


REMOVALS = 12


def work_during_the_end_of_a_device(client: Client) -> tuple[list[int], list[int]]:
    """The statuses of 16 requests of a device whose maker is removed with it: those that began before the answer, and
    those after it."""
    owner, manager, account = create_team(client)
    event_id = create_event(owner)["id"]
    device = pair(client, add_device(manager, event_id)["pairingCode"])
    path, removed = f"{MEMBERS}/{find_member(owner, account)}?endDevicesAndKeys=true", Signal()

    def call(number: int) -> tuple[bool, int]:
        if number == 0:
            assert data(repeat_while_busy(lambda: owner.delete(path)))["endedDevices"] == 1
            removed.set()
            return True, 401
        if number % 2:
            assert removed.wait(timeout=90)
        began_after = removed.is_set()
        return began_after, repeat_while_busy(lambda: device.get(f"/api/events/{event_id}")).status_code

    results = run_concurrently(17, call)
    return [status for after, status in results if not after], [status for after, status in results if after]


def test_no_request_of_a_device_succeeds_after_the_removal_that_ended_it(client: Client) -> None:
    before, after = work_during_the_end_of_a_device(client)
    assert set(after) == {401} and len(after) > 8
    assert set(before) <= {200, 401}


@pytest.mark.control
def test_a_removal_that_counts_devices_without_ending_them_would_leave_them(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation, "end_devices_and_keys", lambda *_: (1, 0))
    _, after = work_during_the_end_of_a_device(client)
    assert 200 in after


def remove_or_pair(
    client: Client,
    owner: Client,
    manager: Client,
    account: Account,
    event_id: str,
    codes: list[str],
    removed: Signal,
    number: int,
) -> tuple[bool, int]:
    """What caller `number` does: the owner removes, the manager makes one more code, the others pair. Returns whether
    the pairing began after the removal was answered, and its status."""
    if number == 0:
        data(repeat_while_busy(lambda: owner.delete(f"{MEMBERS}/{find_member(owner, account)}")))
        removed.set()
        return False, 0
    if number == 1:
        path = f"/api/events/{event_id}/devices"
        made = repeat_while_busy(lambda: manager.post(path, {"kind": "gate", "name": "One more"}))
        if made.status_code != 201:
            return False, made.status_code
        code = data(made, 201)["pairingCode"]
        assert removed.wait(timeout=90)
    else:
        code = codes[number - 2]
    began_after, network = removed.is_set(), {"REMOTE_ADDR": f"10.1.{number}.1"}
    send = lambda: client.post("/api/devices/pair", {"code": code}, environ_base=network)  # noqa: E731
    return began_after, repeat_while_busy(send).status_code


def pair_during_removals(client: Client) -> int:
    """How many devices were paired after the removal of their maker was answered, in some removals beside pairings.

    One of the eight callers makes one more code during the removal.
    """
    late = 0
    for _ in range(REMOVALS):
        owner, manager, account = create_team(client)
        event_id = create_event(owner)["id"]
        codes = [add_device(manager, event_id)["pairingCode"] for _ in range(6)]
        results = run_concurrently(
            8, partial(remove_or_pair, client, owner, manager, account, event_id, codes, Signal())
        )
        assert {status for _, status in results} <= {0, 200, 403, 404, 422}
        late += sum(after and status == 200 for after, status in results)
        paired = fetch_scalar("SELECT count(*) FROM device WHERE paired_at IS NOT NULL AND event_id = :id", id=event_id)
        assert paired == sum(status == 200 for _, status in results)
    return late


def test_no_code_pairs_after_the_removal_of_its_maker(client: Client) -> None:
    assert pair_during_removals(client) == 0
    unused = "SELECT count(*) FROM device WHERE paired_at IS NULL AND ended_at IS NULL"
    assert fetch_scalar(unused) == 0, "a code that is made beside the removal ends too"


@pytest.mark.control
def test_without_the_end_of_codes_some_would_pair_after_the_removal(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation, "end_unused_codes", lambda *_: None)
    monkeypatch.setattr(devices, "may_creator_add_devices", true)
    monkeypatch.setattr(devices, "lock_permitted_team", lambda *_: None)
    assert pair_during_removals(client) > 0
