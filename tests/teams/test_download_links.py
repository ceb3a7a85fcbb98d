"""Download links that a member, a device or a key asked for: who is recorded, and when a link ends with them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from app.audit.actions import Action
from app.core.outbox.executor import run_due_jobs
from tests.audit.scenes import get_entry
from tests.factories.accounts import create_account
from tests.factories.applications import LIST, create_approved_application, find_mailed_token, submit_documents
from tests.factories.events import create_event, create_organiser_client
from tests.factories.inventory import Stock
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.teams.test_api_keys import KEYS, make_key
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import MEMBERS, accept, find_member, invite, take_over


class Viewer(NamedTuple):
    """Who asks for a link, their id in the audit trail, and what ends their access."""

    client: Client
    kind: str
    session_id: str | None
    end: Callable[[], Any]


def create_device(client: Client, owner: Client, event_id: str) -> Viewer:
    device = add_device(owner, event_id, "stock")
    path = f"/api/events/{event_id}/devices/{device['id']}"
    return Viewer(pair(client, device["pairingCode"]), "device", device["id"], lambda: data(owner.delete(path)))


def create_key(client: Client, owner: Client, event_id: str) -> Viewer:
    key = make_key(owner, "stock:read", "stalls:read")
    return Viewer(client.as_(key["key"]), "key", key["id"], lambda: data(owner.delete(f"{KEYS}/{key['id']}")))


def create_member(client: Client, owner: Client, event_id: str) -> Viewer:
    account = create_account("customer")
    invite(owner, account.email, "manager")
    member = accept(client, account)
    path = f"{MEMBERS}/{find_member(owner, account)}"
    return Viewer(member, "person", None, lambda: data(owner.delete(path)))


def create_person_who_signs_out(client: Client, owner: Client, event_id: str) -> Viewer:
    viewer = create_member(client, owner, event_id)
    end = lambda: execute_sql("UPDATE account_session SET ended_at = now()")  # noqa: E731
    return viewer._replace(end=end)


def create_member_who_becomes_a_viewer(client: Client, owner: Client, event_id: str) -> Viewer:
    viewer = create_member(client, owner, event_id)
    return viewer._replace(end=lambda: execute_sql("UPDATE team_member SET role = 'viewer'"))


def create_member_without_second_factor(client: Client, owner: Client, event_id: str) -> Viewer:
    viewer = create_member(client, owner, event_id)
    organisation = "INSERT INTO organiser_profile (account_id, org_name, requires_second_factor)"
    owner_id = data(owner.get("/api/auth/me"))["id"]
    rule = f"{organisation} VALUES ('{owner_id}', 'Lights', true) ON CONFLICT (account_id) DO UPDATE"
    return viewer._replace(end=lambda: execute_sql(f"{rule} SET requires_second_factor = true"))


VIEWERS = [
    create_device,
    create_key,
    create_member,
    create_person_who_signs_out,
    create_member_without_second_factor,
]
Create = Callable[[Client, Client, str], Viewer]


def request_report(viewer: Client, stock: Stock) -> str:
    job = data(viewer.get(f"{stock.path}/reports?type=summary&format=pdf"), 202)
    run_due_jobs(worker="test")
    link: str = data(viewer.get(f"{stock.path}/reports?jobId={job['jobId']}"))["downloadUrl"]
    return link


@pytest.mark.parametrize("create", VIEWERS)
def test_a_report_is_recorded_for_who_asked_and_ends_with_them(client: Client, create: Create) -> None:
    stock = Stock(client)
    stock.item()
    viewer = create(client, stock.owner, stock.event["id"])
    link = request_report(viewer.client, stock)
    assert client.get(link).status_code == 200
    entry = get_entry(Action.REPORT_EXPORTED)
    assert entry["actor_kind"] == viewer.kind and entry["session_id"]
    assert viewer.session_id in (None, entry["session_id"])
    viewer.end()
    assert read_error(client.get(link)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("create", [*VIEWERS[2:], create_member_who_becomes_a_viewer])
def test_a_document_is_recorded_for_who_asked_and_ends_with_them(client: Client, create: Create) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    viewer = create(client, owner, create_event(owner)["id"])
    url = data(viewer.client.get(f"{LIST}/{application['id']}"))["documents"][0]["url"]
    link = url[url.index("/api/") :]
    assert client.get(link).status_code == 200
    entry = get_entry(Action.DOCUMENT_READ)
    assert entry["actor_kind"] == viewer.kind and viewer.session_id in (None, entry["session_id"])
    viewer.end()
    assert read_error(client.get(link)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("create", [create_device, create_key])
def test_a_link_works_after_the_founder_has_left(client: Client, create: Create) -> None:
    stock = Stock(client)
    stock.item()
    founder: str = fetch_scalar("SELECT organiser_id FROM event")
    viewer = create(client, stock.owner, stock.event["id"])
    account = create_account("customer")
    invite(stock.owner, account.email)
    new_owner = accept(client, account)
    take_over(stock.owner, new_owner, account)
    membership = fetch_scalar("SELECT id FROM team_member WHERE account_id = :founder", founder=founder)
    data(new_owner.delete(f"{MEMBERS}/{membership}"))
    assert client.get(request_report(viewer.client, stock)).status_code == 200
