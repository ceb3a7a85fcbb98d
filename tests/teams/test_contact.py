"""Mails and contacts of an organisation whose founder has passed the ownership on."""

from typing import Any

import pytest
from flask import Flask

from app.accounts.data_export import ExportOwner
from app.accounts.models import Account, OrganiserProfile
from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.data_export import export_events
from app.inventory.queries import load_buyer
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.allocations import create_block
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently
from tests.teams.test_members import MEMBERS, accept, find_token, invite

GUEST = "guest@example.com"


def pass_ownership(owner: Client, successor: Client, account: Account) -> None:
    row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == account.id)
    data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
    data(successor.post(f"/api/team-invites/{find_token(account.email)}/accept"))


class PassedOn:
    """An organisation of a founder, who is a merchant as well, and of its present owner."""

    def __init__(self, client: Client) -> None:
        self.founder, self.successor = create_account(roles=["merchant", "organiser"]), create_account()
        self.former = create_signed_in_client(client, self.founder)
        self.block = create_block(client, owner=self.former)
        invite(self.former, self.successor.email)
        self.owner = accept(client, self.successor)
        pass_ownership(self.former, self.owner, self.successor)
        self.block.owner = self.owner

    def invite_guest(self) -> dict[str, Any]:
        """The mail that a guest gets."""
        self.block.invite(GUEST)
        return list_mails_to(GUEST)[0]


@pytest.fixture
def passed_on(client: Client) -> PassedOn:
    return PassedOn(client)


def test_mails_come_from_the_present_owner(passed_on: PassedOn) -> None:
    mail = passed_on.invite_guest()
    assert mail["headers"]["Reply-To"] == passed_on.successor.email
    assert passed_on.founder.email not in str(mail)


def test_pages_name_the_present_owner(client: Client, passed_on: PassedOn) -> None:
    link = data(client.get(f"/api/allocations/allocator/{passed_on.block.allocator()}"))
    assert link["contactEmail"] == passed_on.successor.email
    invited = data(passed_on.owner.post(f"/api/events/{passed_on.block.event['id']}/merchant-invite", {}), 201)
    page = client.get(f"/merchant-invite/{invited['slug']}")
    assert passed_on.successor.email in page.text and passed_on.founder.email not in page.text


def test_stock_reminders_go_to_the_present_owner(passed_on: PassedOn) -> None:
    reminder = data(passed_on.owner.get(f"/api/events/{passed_on.block.event['id']}/inventory/reminder"))
    assert reminder["recipients"] == [passed_on.successor.email]


def test_an_unverified_owner_sends_nothing(passed_on: PassedOn) -> None:
    with transaction() as session:
        session.get_one(Account, passed_on.successor.id).email_verified_at = None
    answer = passed_on.former.post(f"{passed_on.block.path}/invite", {"recipients": [{"name": "G", "email": GUEST}]})
    assert read_error(answer) == (409, "SENDER_NOT_VERIFIED")


def test_a_founder_who_deletes_their_stall_leaves_the_organisation_whole(app: Flask, passed_on: PassedOn) -> None:
    leave = {"currentPassword": PASSWORD, "confirmation": True}
    data(passed_on.former.post("/api/merchants/me/delete", leave))
    founder = db.session.get_one(Account, passed_on.founder.id, populate_existing=True)
    assert founder.email == passed_on.founder.email and founder.roles == []
    assert passed_on.invite_guest()["headers"]["Reply-To"] == passed_on.successor.email


def test_an_owner_who_deletes_their_stall_stays_the_owner(client: Client, passed_on: PassedOn) -> None:
    body = {"email": passed_on.successor.email, "password": PASSWORD, "name": "Selma", "businessName": "Kapana"}
    registered = passed_on.owner.post("/api/auth/register/merchant", {**body, "phone": "+264811234567"})
    assert registered.status_code < 300, registered.text
    data(passed_on.owner.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": True}))
    again = passed_on.block.owner = create_signed_in_client(client, passed_on.successor)
    assert next(row for row in data(again.get(MEMBERS))["members"] if row["role"] == "owner")
    assert passed_on.invite_guest()["headers"]["Reply-To"] == passed_on.successor.email


def test_an_order_names_the_organisation_whoever_prints_it(client: Client, passed_on: PassedOn) -> None:
    event_id = passed_on.block.event["id"]
    with transaction() as session:
        session.add(OrganiserProfile(account_id=passed_on.founder.id, org_name="Windhoek Lights Trust"))
    assert load_buyer(event_id)[:2] == ("Windhoek Lights Trust", passed_on.successor.email)


def test_invitations_are_forgotten_a_month_after_they_ended(passed_on: PassedOn) -> None:
    invite(passed_on.owner, "somebody@example.com")
    execute_sql("UPDATE team_invite SET expires_at = now() - interval '31 days'")
    with transaction():
        enqueue("accounts.sweep")
    run_jobs()
    assert fetch_scalar("SELECT count(*) FROM team_invite WHERE email = 'somebody@example.com'") == 0


def test_the_ownership_can_return_to_the_founder(passed_on: PassedOn) -> None:
    pass_ownership(passed_on.owner, passed_on.former, passed_on.founder)
    members = data(passed_on.former.get(MEMBERS))["members"]
    assert [(row["accountId"], row["role"]) for row in members] == [
        (passed_on.founder.id, "owner"),
        (passed_on.successor.id, "manager"),
    ]
    passed_on.block.owner = passed_on.former
    assert passed_on.invite_guest()["headers"]["Reply-To"] == passed_on.founder.email
    execute_sql("UPDATE event SET ends_at = now() - interval '1 day', starts_at = now() - interval '2 days'")
    assert data(passed_on.former.delete("/api/auth/me", json={"password": PASSWORD}))["deletesAt"]


def test_an_offer_replaces_another_invitation_to_the_address(passed_on: PassedOn) -> None:
    """The address of a member may have an open invitation, if it is new to them."""
    invite(passed_on.owner, "new@example.com")
    execute_sql("UPDATE account SET email = 'new@example.com' WHERE id = :id", id=passed_on.founder.id)
    row = next(row for row in data(passed_on.owner.get(MEMBERS))["members"] if row["role"] == "manager")
    data(passed_on.owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)


def test_two_people_pass_organisations_to_each_other(app: Flask, client: Client) -> None:
    for _ in range(5):
        accounts = [create_account("organiser") for _ in range(2)]
        clients = [create_signed_in_client(client, account) for account in accounts]
        tokens = []
        for number in range(2):
            invite(clients[1 - number], accounts[number].email)
            accept(client, accounts[number])
        for number in range(2):
            owner, other = clients[1 - number].with_(Team_Id=accounts[1 - number].id), accounts[number]
            row = next(row for row in data(owner.get(MEMBERS))["members"] if row["accountId"] == other.id)
            data(owner.post(f"{MEMBERS}/{row['id']}/offer-ownership", {"password": PASSWORD}), 201)
            tokens.append(find_token(other.email))

        def take(number: int, clients: list[Client] = clients, tokens: list[str] = tokens) -> int:
            own = Client(app.test_client(), clients[number].headers)
            return own.post(f"/api/team-invites/{tokens[number]}/accept").status_code

        assert run_concurrently(2, take) == [200, 200]
        for number in range(2):
            owned = clients[number].with_(Team_Id=accounts[1 - number].id)
            roles = {row["accountId"]: row["role"] for row in data(owned.get(MEMBERS))["members"]}
            assert roles == {accounts[number].id: "owner", accounts[1 - number].id: "manager"}


def test_a_founder_who_is_no_owner_learns_nothing_new(client: Client, passed_on: PassedOn) -> None:
    founder = next(row for row in data(passed_on.owner.get(MEMBERS))["members"] if row["role"] == "manager")
    data(passed_on.owner.delete(f"{MEMBERS}/{founder['id']}"))
    create_event(passed_on.owner, name="The secret festival")
    refused = passed_on.former.delete("/api/auth/me", json={"password": PASSWORD})
    assert read_error(refused) == (409, "TEAM_NEEDS_OWNER") and "secret" not in refused.text
    former, present = (
        ExportOwner(account.id, account.email, account.name) for account in (passed_on.founder, passed_on.successor)
    )
    assert export_events(former) == []
    assert "The secret festival" in [event["name"] for event in export_events(present)]


def test_the_owner_cannot_lower_themself_by_an_invitation(passed_on: PassedOn) -> None:
    invite(passed_on.owner, "second@example.com", "viewer")
    token = find_token("second@example.com")
    execute_sql("UPDATE account SET email = 'second@example.com' WHERE id = :id", id=passed_on.successor.id)
    assert read_error(passed_on.owner.post(f"/api/team-invites/{token}/accept")) == (409, "OWNER_ROLE_FIXED")
    assert [row["role"] for row in data(passed_on.owner.get(MEMBERS))["members"]].count("owner") == 1


def test_invitations_of_the_former_owner_end_with_the_passing(client: Client, passed_on: PassedOn) -> None:
    late = create_account()
    invite(passed_on.owner, late.email)
    token = find_token(late.email)
    pass_ownership(passed_on.owner, passed_on.former, passed_on.founder)
    answer = create_signed_in_client(client, late).post(f"/api/team-invites/{token}/accept")
    assert read_error(answer) == (410, "LINK_EXPIRED")
