"""Who may read the audit trail, its filters, pages and CSV."""

import csv
import io
from typing import Any

import pytest

from app.audit.actions import Action
from tests.audit.scenes import list_entries
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.allocations import Block, create_block
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import create_earning_merchant, execute_sql
from tests.http import Client, data, list_problems, read_error
from tests.teams.test_devices import add_device, pair
from tests.teams.test_members import create_team

MINE, ALL = "/api/organisations/me/audit", "/api/admin/audit"


def read(client: Client, path: str, **query: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = data(client.get(path, query_string={"limit": 100, **query}))["entries"]
    return entries


def list_actions(client: Client, path: str, **query: Any) -> list[str]:
    return [entry["action"] for entry in read(client, path, **query)]


def create_work(client: Client) -> Block:
    """A block of an event with two codes."""
    block = create_block(client)
    block.codes(2)
    return block


def event_path(block: Block) -> str:
    return f"/api/events/{block.event['id']}/audit"


def test_the_organisation_reads_its_acts_newest_first(client: Client) -> None:
    block = create_work(client)
    create_work(client)
    expected = ["allocations.codes_created", "allocations.block_created", "events.published", "events.created"]
    assert sorted(list_actions(block.owner, MINE)) == sorted(expected)
    assert list_actions(block.owner, MINE)[:2] == expected[:2]
    assert list_actions(block.owner, event_path(block))[:2] == expected[:2]


def test_an_entry_in_the_list_names_the_actor(client: Client) -> None:
    block = create_work(client)
    entry = read(block.owner, MINE)[0]
    assert (entry["actorName"], entry["actorId"]) == ("Frieda Amupolo", block.event["organiserId"])
    assert (entry["subjectKind"], entry["subjectId"], entry["data"]) == ("block", block.id, {"count": 2})


def test_a_device_in_the_list_has_its_own_name(client: Client) -> None:
    block = create_block(client)
    (slot_id,) = block.claimed(1)
    gate = pair(client, add_device(block.owner, block.event["id"])["pairingCode"])
    data(gate.post(f"{block.events}/will-call/{slot_id}/admit", {}))
    (entry,) = read(block.owner, MINE, area="admissions")
    assert (entry["actorKind"], entry["actorName"]) == ("device", "Gate A")


def test_the_acts_of_a_deleted_event_stay_with_the_organisation(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_event(owner)
    data(owner.delete(f"/api/events/{event['id']}"))
    assert list_actions(owner, MINE) == ["events.deleted", "events.created"]
    assert read_error(owner.get(f"/api/events/{event['id']}/audit")) == (404, "NOT_FOUND")


def test_members_who_may_read_the_audit_trail_read_that_of_the_team(client: Client) -> None:
    owner, finance, _ = create_team(client, "finance")
    event = create_event(owner)
    assert "events.created" in list_actions(finance, MINE)
    assert list_actions(finance, f"/api/events/{event['id']}/audit") == ["events.created"]
    assert read_error(finance.with_(Team_Id="0" * 24).get(MINE)) == (403, "ROLE_NOT_ALLOWED")


def test_another_organisation_sees_nothing(client: Client) -> None:
    block, other = create_work(client), create_organiser_client(client)
    assert read(other, MINE) == []
    assert read_error(other.get(event_path(block))) == (404, "NOT_FOUND")
    assert read_error(other.get(f"{event_path(block)}.csv")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"action": "allocations.codes_created"}, 1),
        ({"area": "allocations"}, 2),
        ({"area": "money"}, 0),
        ({"actor": "{organiser}"}, 4),
        ({"actor": "0" * 24}, 0),
        ({"subject": "{block}"}, 2),
        ({"from": "2026-01-01"}, 4),
        ({"from": "2126-01-01"}, 0),
        ({"to": "2026-01-01"}, 0),
    ],
)
def test_filters(client: Client, query: dict[str, str], count: int) -> None:
    block = create_work(client)
    values = {"organiser": block.event["organiserId"], "block": block.id}
    filled = {name: value.format(**values) for name, value in query.items()}
    assert len(read(block.owner, MINE, **filled)) == count
    assert len(read(block.owner, event_path(block), **filled)) == count


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"action": "money.stolen"}, "invalid_choice"),
        ({"actor": "me"}, "too_short"),
        ({"from": "yesterday"}, "invalid_time"),
        ({"area": "cake"}, "invalid_choice"),
    ],
)
def test_filters_that_say_nothing_are_refused(client: Client, query: dict[str, str], code: str) -> None:
    problems = list_problems(create_organiser_client(client).get(MINE, query_string=query))
    assert list(problems) == list(query)


def test_pages_neither_skip_nor_repeat(client: Client) -> None:
    block = create_work(client)
    execute_sql(
        "INSERT INTO audit_entry (action, actor_kind, subject_kind, organisation_id)"
        " SELECT 'events.created', 'system', 'event', :owner FROM generate_series(1, 50)",
        owner=block.event["organiserId"],
    )
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 20}
    while True:
        page = data(block.owner.get(MINE, query_string=query))
        seen += [entry["id"] for entry in page["entries"]]
        if page["pagination"]["nextCursor"] is None:
            break
        query["cursor"] = page["pagination"]["nextCursor"]
    assert len(seen) == len(set(seen)) == 54


def test_admins_read_all_and_filter(client: Client) -> None:
    block = create_work(client)
    _, merchant = create_earning_merchant(client, 5000)
    admin = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    organiser_id = block.event["organiserId"]
    assert len(list_actions(admin, ALL)) == len(list_entries())
    assert len(list_actions(admin, ALL, organisationId=organiser_id)) == 4
    assert len(list_actions(admin, ALL, eventId=block.event["id"])) == 4
    assert sorted(list_actions(admin, ALL, accountId=merchant.id)) == [
        "access.signed_in",
        "money.payout_details_changed",
    ]
    assert set(list_actions(admin, ALL, accountId=organiser_id, area="access")) == {"access.signed_in"}


def test_the_csv_has_the_entries_of_the_list(client: Client) -> None:
    block = create_work(client)
    entries = read(block.owner, MINE, area="allocations")
    response = block.owner.get(f"{MINE}.csv", query_string={"area": "allocations"})
    rows = list(csv.DictReader(io.StringIO(response.get_data(as_text=True).lstrip("\ufeff"))))
    assert [row["id"] for row in rows] == [entry["id"] for entry in entries]
    assert set(rows[0]) == set(entries[0])
    assert response.headers["Content-Type"].startswith("text/csv")
    assert list_actions(block.owner, MINE)[0] == Action.AUDIT_EXPORTED.value


@pytest.mark.parametrize("path", ["event", ALL])
def test_event_and_admin_csv(client: Client, path: str) -> None:
    block = create_work(client)
    reader = block.owner if path == "event" else create_signed_in_client(client, create_account("admin"))
    path = event_path(block) if path == "event" else path
    response = reader.get(f"{path}.csv", query_string={"area": "events"})
    rows = list(csv.DictReader(io.StringIO(response.get_data(as_text=True).lstrip("\ufeff"))))
    assert [row["action"] for row in rows] == ["events.published", "events.created"]


def test_the_csv_has_no_formulas(client: Client) -> None:
    owner = create_organiser_client(client, name="=2+5")
    create_event(owner)
    text = owner.get(f"{MINE}.csv").get_data(as_text=True)
    assert '"\'=2+5"' in text
