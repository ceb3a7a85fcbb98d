"""`GET /api/organisations/me/tasks`: what waits, by role and organisation."""

from typing import Any

import pytest

from tests.desk.test_tasks import KINDS_BY_ROLE, create_tasks
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client, data, read_error
from tests.teams.test_members import accept, create_team, invite

TASKS = "/api/organisations/me/tasks"


def read(client: Client) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = data(client.get(TASKS))["tasks"]
    return tasks


@pytest.mark.parametrize("role", KINDS_BY_ROLE)
def test_each_role_sees_what_it_may_do(client: Client, role: str) -> None:
    owner, member, _ = create_team(client, role)
    event_id = create_tasks(client, owner)
    assert [task["kind"] for task in read(member)] == KINDS_BY_ROLE[role]
    assert read(owner)[0] == {"kind": "conflicts", "eventId": event_id, "eventName": "Windhoek Lights", "count": 2}


def test_another_organisation_and_an_admin_see_nothing(client: Client) -> None:
    owner = create_organiser_client(client)
    create_tasks(client, owner)
    assert read(create_organiser_client(client)) == []
    assert read(create_signed_in_client(client, create_account("admin"))) == []
    assert read_error(create_signed_in_client(client, create_account("merchant")).get(TASKS)) == (
        403,
        "ROLE_NOT_ALLOWED",
    )


def test_an_admin_with_an_organisation_sees_its_tasks_only(client: Client) -> None:
    create_tasks(client, create_organiser_client(client))
    both = create_signed_in_client(client, create_account("admin", roles=["organiser", "admin"]))
    event = create_event(both)
    assert [task["eventId"] for task in read(both)] == [event["id"]]


def test_who_works_for_two_organisations_sees_both_or_the_named_one(client: Client) -> None:
    owner, account = create_organiser_client(client), create_account("organiser")
    invite(owner, account.email, "manager")
    member = accept(client, account)
    theirs, own = create_event(owner)["id"], create_event(member.with_(Team_Id=account.id))["id"]
    assert {task["eventId"] for task in read(member)} == {theirs, own}
    assert [task["eventId"] for task in read(member.with_(Team_Id=account.id))] == [own]
