"""`/api/events/{eventId}/tickets/imports`: the list of imports, and their undo."""

from io import BytesIO
from time import sleep
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.events import ticket_undo_sql
from tests.blueprints.test_ticket_imports import count_tickets, send
from tests.events.law import assert_books_agree
from tests.events.test_import import DATA, TYPES
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.http import Client, data, read_error
from tests.races import repeat_while_busy, run_concurrently

HEADER = "reference,ticketType,name,email,price,soldAt,status,secret,validFrom,validUntil\n"
ONE = "A1,Weekend pass,Zoë,zoe@example.com,850,2026-10-01,sold,one,2026-10-02,2026-10-04\n"
TWO = "A2,Weekend pass,Petrus,p@example.com,850,2026-10-01,sold,two,,\n"
CHANGED = "A1,Day ticket Saturday,Zora,zora@example.com,450,2026-10-03,cancelled,new,2026-10-03,2026-10-05\n"
TABLES = ("ticket", "ticket_type", "ticket_tally", "price_phase")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, ticketTypes=TYPES)


@pytest.fixture
def path(event: dict[str, Any]) -> str:
    return f"/api/events/{event['id']}/tickets"


def book(client: Client, path: str, content: str | bytes, **options: Any) -> str:
    """Imports a file and returns the id of the import."""
    return str(data(send(client, path, content, **options))["importId"])


def undo(client: Client, path: str, import_id: str) -> Any:
    return client.post(f"{path}/imports/{import_id}/undo")


def dump() -> dict[str, str]:
    """The tickets, their types and their figures, without what counts changes."""
    with db.engine.connect() as connection:
        return {
            table: str(
                connection.scalar(
                    text(
                        f"SELECT json_agg(to_jsonb(t) - 'transaction_id' ORDER BY t::text) FROM {table} t "
                        "WHERE (to_jsonb(t) -> 'sold')::text <> '0' OR (to_jsonb(t) -> 'sold') IS NULL"
                    )
                )
            )
            for table in TABLES
        }


def scan(client: Client, event: dict[str, Any], secret: str, nonce: str = "n1") -> Any:
    return client.post(f"/api/events/{event['id']}/admissions", {"code": secret, "nonce": nonce})


def test_imports_are_listed(owner: Client, path: str) -> None:
    first = book(owner, path, HEADER + ONE + TWO)
    second = book(owner, path, HEADER + CHANGED + TWO)
    send(owner, path, HEADER + ONE, dryRun="true")
    send(owner, path, HEADER + ONE.replace("Weekend pass", "Backstage"))
    page = data(owner.get(f"{path}/imports", query_string={"withTotal": "true"}))
    rows = page["imports"]
    assert [row["id"] for row in rows] == [second, first] and page["pagination"]["total"] == 2
    assert {name: rows[0][name] for name in ("number", "fileName", "format", "state", "updated", "unchanged")} == {
        "number": 2, "fileName": "tickets.csv", "format": "own", "state": "done", "updated": 1, "unchanged": 1,
    }  # fmt: skip
    assert rows[0]["cancelled"] == 1 and rows[1]["created"] == 2 and len(rows[0]["digest"]) == 64
    assert rows[0]["importedBy"] and rows[0]["undoBlockedBy"] is None and rows[1]["undoBlockedBy"] == "LATER_IMPORT"
    assert data(owner.get(f"{path}/imports/{first}")) == rows[1]
    listed = data(owner.get(path, query_string={"importId": second}))["tickets"]
    assert [ticket["reference"] for ticket in listed] == ["A1"]


def test_pages_follow_each_other(owner: Client, path: str) -> None:
    ids = [book(owner, path, HEADER + ONE) for _ in range(3)]
    first = data(owner.get(f"{path}/imports", query_string={"limit": 2, "sort": "importedAt"}))
    cursor = first["pagination"]["nextCursor"]
    second = data(owner.get(f"{path}/imports", query_string={"limit": 2, "sort": "importedAt", "cursor": cursor}))
    assert [row["id"] for row in first["imports"] + second["imports"]] == ids


def test_file_name_is_cleaned(owner: Client, path: str) -> None:
    form = {"file": (BytesIO((HEADER + ONE).encode()), "../../etc/<b>x\u202e.csv")}
    data(owner.open("POST", f"{path}/import", data=form, content_type="multipart/form-data"))
    (row,) = data(owner.get(f"{path}/imports"))["imports"]
    assert row["fileName"] == "bx.csv"


def test_undo_restores_everything(owner: Client, path: str, event: dict[str, Any]) -> None:
    book(owner, path, HEADER + ONE + TWO)
    before = dump()
    content = HEADER + CHANGED + TWO.replace("two", "one") + ONE.replace("A1", "A3").replace("one", "two")
    import_id = book(owner, path, content)
    assert dump() != before
    result = data(undo(owner, path, import_id))
    assert (result["state"], result["undoBlockedBy"]) == ("undone", None) and result["undoneAt"] and result["undoneBy"]
    assert dump() == before
    assert_books_agree()


def test_undo_of_an_export_leaves_nothing(owner: Client, path: str) -> None:
    import_id = book(owner, path, (DATA / "pretix-positions.csv").read_bytes())
    data(undo(owner, path, import_id))
    assert count_tickets() == 0
    assert data(owner.get(f"{path[:-8]}/ticket-stats"))["totals"]["sold"] == 0
    assert_books_agree()
    assert data(send(owner, path, (DATA / "pretix-positions.csv").read_bytes()))["created"] == 282
    assert_books_agree()


def test_second_undo_gets_the_present_state(owner: Client, path: str) -> None:
    import_id = book(owner, path, HEADER + ONE)
    first = data(undo(owner, path, import_id))
    later = book(owner, path, HEADER + ONE)
    assert data(undo(owner, path, import_id)) == first and count_tickets() == 1
    assert data(owner.get(f"{path}/imports/{later}"))["state"] == "done"


def test_same_file_again_is_an_import_with_nothing_to_undo(owner: Client, path: str) -> None:
    book(owner, path, HEADER + ONE)
    again = book(owner, path, HEADER + ONE)
    before = dump()
    assert data(undo(owner, path, again))["unchanged"] == 1 and dump() == before


def test_new_types_go_if_nothing_refers_to_them(owner: Client, path: str, event: dict[str, Any]) -> None:
    content = "reference,ticketType\nB1,Backstage\nB2,Parking\nB3,Camper\nB4,Boat\n"
    import_id = book(owner, path, content, createTypes="true")
    types = {row["name"]: row for row in data(owner.get(path[:-8]))["ticketTypes"]}
    later = "reference,ticketType\nC1,Parking\n"
    send(owner, path, later, allowOversell="true")
    changed = [
        {"id": row["id"], "name": name, "priceMinor": 0, "quantity": row["quantity"]} for name, row in types.items()
    ]
    next(row for row in changed if row["name"] == "Camper")["phases"] = [{"name": "Early", "priceMinor": 1}]
    promo = {"code": "BOAT", "percentOff": 10, "ticketTypeIds": [types["Boat"]["id"]]}
    version = update_event(owner, data(owner.get(path[:-8])), ticketTypes=changed, promoCodes=[promo])["version"]
    assert data(undo(owner, path, import_id))["newTypes"] == 4
    after = data(owner.get(path[:-8]))
    names = [row["name"] for row in after["ticketTypes"]]
    assert "Backstage" not in names and {"Parking", "Camper", "Boat"} <= set(names)
    assert after["version"] == version + 1
    assert_books_agree()


def test_places_taken_meanwhile_are_oversold_after_the_undo(owner: Client, client: Client) -> None:
    event = create_published_event(owner, ticketTypes=[{"name": "Weekend pass", "priceMinor": 1, "quantity": 2}])
    path = f"/api/events/{event['id']}/tickets"
    book(owner, path, HEADER + ONE + TWO)
    cancelling = book(owner, path, HEADER + ONE.replace("sold", "cancelled"))
    body = {"ticketTypeId": event["ticketTypes"][0]["id"], "quantity": 1, "kind": "press"}
    data(owner.post(f"/api/events/{event['id']}/allocations", body), 201)
    data(undo(owner, path, cancelling))
    totals = data(owner.get(f"/api/events/{event['id']}/ticket-stats"))["totals"]
    assert (totals["sold"], totals["oversold"], totals["available"]) == (2, 1, 0)
    assert_books_agree()


def test_oversold_import_leaves_no_surplus(owner: Client) -> None:
    event = create_published_event(
        owner, capacity=2, ticketTypes=[{"name": "Weekend pass", "priceMinor": 1, "quantity": 1}]
    )
    path = f"/api/events/{event['id']}/tickets"
    import_id = book(
        owner, path, HEADER + ONE + TWO + TWO.replace("A2", "A3").replace("two", "3"), allowOversell="true"
    )
    data(undo(owner, path, import_id))
    totals = data(owner.get(f"/api/events/{event['id']}/ticket-stats"))["totals"]
    assert (totals["sold"], totals["oversold"], totals["available"]) == (0, 0, 1)
    assert_books_agree()


def test_admitted_ticket_prevents_the_undo(owner: Client, path: str, event: dict[str, Any]) -> None:
    import_id = book(owner, path, HEADER + TWO)
    admission = data(scan(owner, event, "two"))["admissionId"]
    assert data(owner.get(f"{path}/imports/{import_id}"))["undoBlockedBy"] == "TICKETS_ADMITTED"
    refused = undo(owner, path, import_id)
    assert read_error(refused) == (409, "TICKETS_ADMITTED") and refused.get_json()["data"] == {"tickets": 1}
    assert count_tickets() == 1
    data(owner.post(f"/api/events/{event['id']}/admissions/{admission}/undo", {"reason": "test"}))
    data(undo(owner, path, import_id))
    assert read_error(scan(owner, event, "two", "n2")) == (404, "TICKET_NOT_FOUND")


def test_ticket_that_was_admitted_before_the_change_does_not(owner: Client, path: str, event: dict[str, Any]) -> None:
    book(owner, path, HEADER + TWO)
    data(scan(owner, event, "two"))
    import_id = book(owner, path, HEADER + TWO.replace("Petrus", "Paul"))
    data(undo(owner, path, import_id))
    (ticket,) = data(owner.get(path))["tickets"]
    assert ticket["name"] == "Petrus" and ticket["admittedAt"]


def test_conflict_of_an_offline_gate_prevents_the_undo(owner: Client, path: str, event: dict[str, Any]) -> None:
    import_id = book(owner, path, HEADER + ONE)
    (occurred_at,) = db.session.execute(text("SELECT now()")).one()
    batch = {"admissions": [{"code": "one", "nonce": "offline", "occurredAt": occurred_at.isoformat()}]}
    (result,) = data(owner.post(f"/api/events/{event['id']}/admissions/batch", batch))["results"]
    assert result["status"] == "conflict" and result["code"] == "WRONG_DAY"
    assert read_error(undo(owner, path, import_id)) == (409, "TICKETS_ADMITTED")


def test_later_import_is_undone_first(owner: Client, path: str) -> None:
    first = book(owner, path, HEADER + ONE + TWO)
    second, third = (book(owner, path, HEADER + TWO.replace("Petrus", name)) for name in ("Paul", "Pia"))
    refused = undo(owner, path, first)
    assert read_error(refused) == (409, "LATER_IMPORT") and refused.get_json()["data"] == {"imports": [third, second]}
    for import_id in (third, second, first):
        data(undo(owner, path, import_id))
    assert count_tickets() == 0
    assert_books_agree()


def test_secret_that_a_later_import_gave_away_prevents_the_undo(owner: Client, path: str) -> None:
    book(owner, path, HEADER + ONE)
    changing = book(owner, path, HEADER + ONE.replace(",one,", ",new,"))
    taking = book(owner, path, HEADER + TWO.replace(",two,", ",one,"))
    refused = undo(owner, path, changing)
    assert read_error(refused) == (409, "LATER_IMPORT") and refused.get_json()["data"] == {"imports": [taking]}
    data(undo(owner, path, taking))
    data(undo(owner, path, changing))
    assert [ticket["secret"] for ticket in data(owner.get(path))["tickets"]] == ["one"]


def test_removed_type_prevents_the_undo(owner: Client, path: str, event: dict[str, Any]) -> None:
    book(owner, path, HEADER + ONE)
    moving = book(owner, path, HEADER + ONE.replace("Weekend pass", "Day ticket Saturday"))
    kept = [row for row in data(owner.get(path[:-8]))["ticketTypes"] if row["name"] != "Weekend pass"]
    changed = [{"id": row["id"], "name": row["name"], "priceMinor": 1, "quantity": row["quantity"]} for row in kept]
    update_event(owner, data(owner.get(path[:-8])), ticketTypes=changed)
    assert read_error(undo(owner, path, moving)) == (410, "TICKET_TYPE_REMOVED")
    assert data(owner.get(f"{path}/imports/{moving}"))["undoBlockedBy"] == "TICKET_TYPE_REMOVED"


def test_gate_learns_of_tickets_that_went(owner: Client, path: str, event: dict[str, Any]) -> None:
    book(owner, path, HEADER + TWO)
    import_id = book(owner, path, HEADER + ONE + TWO.replace("Petrus", "Paul"))
    snapshot = data(owner.get(f"/api/events/{event['id']}/admissions/snapshot"))
    ids = {place[3]: place[0] for place in snapshot["places"]}
    data(undo(owner, path, import_id))
    since = {"since": snapshot["position"]}
    changes = data(owner.get(f"/api/events/{event['id']}/admissions/snapshot", query_string=since))
    assert not changes["full"] and changes["removed"] == [ids["Zoë"]]
    assert [place[3] for place in changes["places"]] == ["Petrus"]
    again = data(
        owner.get(f"/api/events/{event['id']}/admissions/snapshot", query_string={"since": changes["position"]})
    )
    assert again["removed"] == [] and again["places"] == []


def test_others_neither_see_nor_undo(client: Client, owner: Client, path: str) -> None:
    import_id = book(owner, path, HEADER + ONE)
    other = create_organiser_client(client)
    assert other.get(f"{path}/imports").status_code == 404
    assert undo(other, path, import_id).status_code == 404 and count_tickets() == 1
    own_path = f"/api/events/{create_published_event(other, ticketTypes=TYPES)['id']}/tickets"
    assert undo(other, own_path, import_id).status_code == 404 and undo(owner, path, "0" * 24).status_code == 404
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert undo(analyst, path, import_id).status_code == 403


def test_event_without_tickets_is_deleted_with_its_imports(owner: Client, path: str) -> None:
    import_id = book(owner, path, HEADER + ONE)
    data(undo(owner, path, import_id))
    assert data(owner.delete(path[:-8]))["outcome"] == "deleted"
    assert db.session.scalar(text("SELECT count(*) FROM ticket_import_change")) == 0


def test_concurrent_undos_happen_once(app: Flask, owner: Client, path: str) -> None:
    import_id = book(owner, path, HEADER + ONE + TWO)

    def run(_: int) -> dict[str, Any]:
        mine = Client(app.test_client(), owner.headers)
        return data(repeat_while_busy(lambda: undo(mine, path, import_id)))

    results = run_concurrently(64, run)
    assert all(result == results[0] for result in results)
    audited = "SELECT count(*) FROM audit_entry WHERE action = 'events.ticket_import_undone'"
    assert db.session.scalar(text(audited)) == 1
    assert_books_agree()


def test_undo_beside_imports_leaves_books_that_agree(app: Flask, owner: Client, path: str) -> None:
    for turn in range(6):
        import_id = book(owner, path, HEADER + TWO)

        def run(number: int, import_id: str = import_id) -> int:
            mine = Client(app.test_client(), owner.headers)
            if number:
                renamed = HEADER + TWO.replace("Petrus", f"Paul {number}") + ONE
                return repeat_while_busy(lambda: send(mine, path, renamed)).status_code
            return repeat_while_busy(lambda: undo(mine, path, import_id)).status_code

        statuses = run_concurrently(4, run)
        assert set(statuses[1:]) == {200} and statuses[0] in (200, 409), turn
        assert count_tickets() == 2
        assert_books_agree()
        for row in data(owner.get(f"{path}/imports"))["imports"]:
            if row["state"] == "done":
                data(undo(owner, path, row["id"]))
        assert count_tickets() == 0
        assert_books_agree()


def race_scan_and_undo(
    app: Flask, owner: Client, path: str, event: dict[str, Any], turns: int, head_start: float = 0
) -> list[list[int]]:
    found = []
    for turn in range(turns):
        import_id = book(owner, path, HEADER + TWO.replace("A2", f"T{turn}").replace("two", f"secret {turn}"))

        def run(number: int, turn: int = turn, import_id: str = import_id) -> int:
            mine = Client(app.test_client(), owner.headers)
            if number:
                sleep(head_start)
                return scan(mine, event, f"secret {turn}", f"race-{turn}").status_code
            return repeat_while_busy(lambda: undo(mine, path, import_id)).status_code

        found.append(run_concurrently(2, run))
    return found


def test_scan_and_undo_exclude_each_other(app: Flask, owner: Client, path: str, event: dict[str, Any]) -> None:
    found = race_scan_and_undo(app, owner, path, event, 12)
    assert all(statuses in ([200, 404], [409, 200]) for statuses in found), found
    assert_books_agree()


@pytest.mark.control
def test_admitted_ticket_goes_without_the_lock(
    app: Flask, owner: Client, path: str, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_undo_sql, "LOCK_TICKETS", text("SELECT 1"))
    late = text(ticket_undo_sql.PLAN_UNDO.text.replace(" WHERE", " CROSS JOIN (SELECT pg_sleep(0.6)) pause WHERE"))
    monkeypatch.setattr(ticket_undo_sql, "PLAN_UNDO", late)
    assert [200, 200] in race_scan_and_undo(app, owner, path, event, 4, head_start=0.2)
