"""An organisation that requires a second factor of its members."""

from app.accounts.models import OrganiserProfile
from app.core.transaction import transaction
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data, read_error
from tests.teams.test_members import accept, invite

ORGANISATION = "/api/organisations/me"


def create_profiled_owner(client: Client) -> Client:
    account = create_account("organiser")
    with transaction() as session:
        session.add(OrganiserProfile(account_id=account.id, org_name="Windhoek Lights"))
    return create_signed_in_client(client, account)


def turn_on_second_factor(email_pattern: str = "%") -> None:
    execute_sql("UPDATE account SET second_factor_since = now() WHERE email LIKE :pattern", pattern=email_pattern)


def test_the_owner_needs_a_second_factor_first(client: Client) -> None:
    owner = create_profiled_owner(client)
    refused = owner.patch(ORGANISATION, {"requiresSecondFactor": True})
    assert read_error(refused)[0] == 409
    assert data(owner.get(ORGANISATION))["requiresSecondFactor"] is False


def test_a_member_without_one_is_told_to_set_it_up(client: Client) -> None:
    owner, account = create_profiled_owner(client), create_account()
    event = create_event(owner)
    invite(owner, account.email, "manager")
    member = accept(client, account)
    data(member.get(f"/api/events/{event['id']}"))
    turn_on_second_factor("organiser%")
    assert data(owner.patch(ORGANISATION, {"requiresSecondFactor": True}))["requiresSecondFactor"] is True
    assert read_error(member.get(f"/api/events/{event['id']}")) == (403, "SECOND_FACTOR_SETUP_REQUIRED")
    assert data(member.get("/api/auth/me"))["id"] == account.id
    turn_on_second_factor()
    data(member.get(f"/api/events/{event['id']}"))


def test_it_can_be_lifted(client: Client) -> None:
    owner = create_profiled_owner(client)
    turn_on_second_factor()
    data(owner.patch(ORGANISATION, {"requiresSecondFactor": True}))
    for _ in range(2):
        assert data(owner.patch(ORGANISATION, {"requiresSecondFactor": False}))["requiresSecondFactor"] is False
