"""`GET /api/organisations/me/files`: what workers make, by role and organisation."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.outbox.executor import run_due_jobs
from app.files.actions import request_file
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event, create_organiser_client
from tests.files.sample import SAMPLE, register_sample
from tests.http import Client, data, read_error
from tests.teams.test_api_keys import make_key
from tests.teams.test_members import accept, invite

FILES = "/api/organisations/me/files"
KEY_SCOPES = (("events:read", "money:read"), ("events", "money:read"))


@pytest.fixture(autouse=True)
def sample(app: Flask) -> Iterator[None]:
    with register_sample():
        yield


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_account("organiser", name="Nangula Shikongo")


@pytest.fixture
def organiser(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


def request(owner: Account, event: dict[str, Any] | None = None, **parameters: Any) -> str:
    event_id = event["id"] if event else None
    caller = build_caller(owner)
    return request_file(caller, SAMPLE, organisation_id=owner.id, event_id=event_id, parameters=parameters)


def request_stock_report(organiser: Client) -> None:
    data(organiser.get(f"/api/events/{create_event(organiser)['id']}/inventory/reports?format=pdf"), 202)


def read(client: Client, **query: Any) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = data(client.get(FILES, query_string=query))["files"]
    return files


def test_a_file_is_listed_from_its_request_to_its_end(owner: Account, organiser: Client) -> None:
    event = create_event(organiser, name="Windhoek Lights")
    file_id = request(owner, event)
    (waiting,) = read(organiser)
    assert (waiting["status"], waiting["progress"], waiting["hasContent"]) == ("queued", 0, False)
    run_due_jobs(worker="test")
    (ready,) = read(organiser)
    assert ready.pop("createdAt") == waiting["createdAt"]
    assert ready == {
        "id": file_id,
        "kind": SAMPLE,
        "eventId": event["id"],
        "eventName": "Windhoek Lights",
        "status": "done",
        "progress": 100,
        "message": None,
        "hasContent": True,
        "kilobytes": 1,
        "askedBy": "Nangula Shikongo",
        "mayDelete": True,
    }
    request(owner, refuse=True)
    run_due_jobs(worker="test")
    failed = read(organiser)[0]
    assert (failed["status"], failed["message"]) == ("failed", "There is nothing in this period.")
    assert failed["eventId"] is None and failed["eventName"] is None and failed["kilobytes"] is None


@pytest.mark.parametrize("role", ["manager", "finance", "door", "stock", "messages", "viewer"])
def test_each_role_sees_files_of_its_permissions(client: Client, owner: Account, organiser: Client, role: str) -> None:
    request_stock_report(organiser)
    request(owner)
    account = create_account("customer")
    invite(organiser, account.email, role)
    kinds = {SAMPLE: ("manager", "finance"), "stock_report": ("manager", "finance", "stock", "viewer")}
    member = accept(client, account)
    assert {file["kind"] for file in read(member)} == {kind for kind, roles in kinds.items() if role in roles}
    assert [file["mayDelete"] for file in read(member) if file["kind"] == SAMPLE] == {
        "manager": [True],
        "finance": [False],
    }.get(role, [])


def test_a_key_deletes_only_with_the_scope_of_events(client: Client, owner: Account, organiser: Client) -> None:
    file_id = request(owner, create_event(organiser))
    readers = {scopes: client.as_(make_key(organiser, *scopes)["key"]) for scopes in KEY_SCOPES}
    for scopes, reader in readers.items():
        may_delete = "events" in scopes
        assert [file["mayDelete"] for file in read(reader)] == [may_delete]
        answer = reader.delete(f"{FILES}/{file_id}")
        assert answer.status_code == (200 if may_delete else 404), scopes
    assert read(organiser) == []


def test_others_see_nothing(client: Client, owner: Account, organiser: Client) -> None:
    request_stock_report(organiser)
    request(owner)
    admin = create_signed_in_client(client, create_account("admin"))
    admin_with_organisation = create_signed_in_client(client, create_account("admin", roles=["organiser", "admin"]))
    for stranger in (create_organiser_client(client), admin, admin_with_organisation):
        assert read(stranger) == []
    customer = create_signed_in_client(client, create_account("customer"))
    assert read_error(customer.get(FILES)) == (403, "ROLE_NOT_ALLOWED")


def test_a_member_of_one_event_sees_its_files(client: Client, owner: Account, organiser: Client) -> None:
    mine, other = create_event(organiser), create_event(organiser)
    own_file = request(owner, mine)
    request(owner, other)
    request(owner)
    account = create_account("customer")
    invite(organiser, account.email, "finance", eventIds=[mine["id"]])
    assert [file["id"] for file in read(accept(client, account))] == [own_file]


def test_pages_have_the_newest_first(owner: Account, organiser: Client) -> None:
    ids = [request(owner, word=str(number)) for number in range(3)]
    page = data(organiser.get(f"{FILES}?limit=2&withTotal=true"))
    cursor = page["pagination"]["nextCursor"]
    rest = read(organiser, limit=2, cursor=cursor)
    assert [file["id"] for file in [*page["files"], *rest]] == ids[::-1] and page["pagination"]["total"] == 3
