"""The first entry of a place is its earliest scan, in whichever order the scans of offline gates arrive."""

from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from typing import Any

import pytest
from sqlalchemy import text

from app.core.db import db
from app.events.reentry import REENTRY_MODES
from app.ledger.commands import list_differences
from tests.factories.gate import Gate
from tests.factories.payouts import execute_sql
from tests.gate.test_batch import list_conflicts
from tests.gate.test_undo import pair_device
from tests.http import Client, data

MINUTES = (30, 20, 10)
SLOT = text("""
    SELECT s.admitted_at, s.gate, s.admitted_by = e.organiser_id, s.nonce FROM allocation_slot s
      JOIN event e ON e.id = s.event_id WHERE s.code = :code""")
TICKET = text("SELECT admitted_at FROM ticket WHERE secret = :code")
FIRST_ENTRIES = text("""
    SELECT a.occurred_at, a.gate, a.actor_name, a.nonce FROM admission a
     WHERE a.place_id = (SELECT id FROM allocation_slot WHERE code = :code
                         UNION SELECT id FROM ticket WHERE secret = :code)
       AND a.direction = 'in' AND NOT a.is_reentry AND a.undone_at IS NULL""")
TALLIES = text("""
    SELECT gate, sum(first_entries), sum(entries) FROM admission_tally WHERE event_id = :id GROUP BY 1 ORDER BY 1""")
_numbers = count(1)


def offline_scan(code: str, minutes_ago: float, **fields: Any) -> dict[str, Any]:
    occurred_at = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).isoformat(timespec="milliseconds")
    scan = {"code": code, "nonce": f"first-{next(_numbers)}", "occurredAt": occurred_at, "gate": f"G{minutes_ago}"}
    return {**scan, **fields}


def send(gate: Gate, by: Client, *scans: dict[str, Any]) -> list[str]:
    results = data(by.post(f"{gate.path}/batch", {"admissions": list(scans)}))["results"]
    return [result["status"] for result in results]


def make_code(gate: Gate, kind: str) -> str:
    return str(gate.claim()["code"] if kind == "slot" else gate.sell().secret)


@pytest.mark.parametrize("reentry", REENTRY_MODES)
@pytest.mark.parametrize("kind", ["slot", "ticket"])
def test_any_order_of_arrival_has_the_same_first_entry(client: Client, kind: str, reentry: str) -> None:
    gate = Gate(client, reentry=reentry)
    phones = [pair_device(gate, client, f"Phone {minutes}") for minutes in MINUTES]
    orders = list(permutations(range(len(MINUTES))))
    for order in orders:
        code = make_code(gate, kind)
        scans = [offline_scan(code, minutes) for minutes in MINUTES]
        for number in order:
            send(gate, phones[number], scans[number])
        first = datetime.fromisoformat(scans[0]["occurredAt"])
        (entry,) = db.session.execute(FIRST_ENTRIES, {"code": code}).all()
        assert tuple(entry) == (first, "G30", "Phone 30", scans[0]["nonce"]), order
        expected = (first, "G30", True, scans[0]["nonce"]) if kind == "slot" else (first,)
        assert tuple(db.session.execute(SLOT if kind == "slot" else TICKET, {"code": code}).one()) == expected, order
        for number in order:
            assert send(gate, phones[number], scans[number]) == ["repeated"]
    tallies = [tuple(row) for row in db.session.execute(TALLIES, {"id": gate.event_id})]
    assert tallies == [(f"G{m}", len(orders) * (m == 30), len(orders)) for m in sorted(MINUTES)]
    assert list(list_differences(lambda _: None)) == []


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_party_in_any_order_has_the_earliest_scan_of_each_place_first(client: Client, order: tuple[int, ...]) -> None:
    gate = Gate(client)
    codes = gate.claim_party(3)
    scans = [offline_scan(codes[number], minutes, count=2) for number, minutes in enumerate((30, 20, 10))]
    for number in order:
        send(gate, gate.owner, scans[number])
    wrong = text("""
        SELECT f.id FROM admission f JOIN admission a ON a.place_id = f.place_id AND a.direction = 'in'
         WHERE NOT f.is_reentry AND a.occurred_at < f.occurred_at""")
    assert db.session.scalars(wrong).all() == []
    conflicts = data(gate.owner.get(f"{gate.path}/conflicts"))["conflicts"]
    assert len(conflicts) == 3, "six people came on three places"
    assert list(list_differences(lambda _: None)) == []


@pytest.mark.parametrize(("reentry", "minutes"), [("free", 10), ("daily", 24 * 60)])
def test_an_online_scan_of_an_earlier_time_is_first(client: Client, reentry: str, minutes: float) -> None:
    gate = Gate(client, reentry=reentry)
    slot = gate.claim()
    assert not data(gate.scan(slot["code"], nonce="now"))["reentry"]
    earlier = offline_scan(slot["code"], minutes)
    assert [data(gate.scan(**earlier))["reentry"] for _ in range(2)] == [False, False]
    (entry,) = db.session.execute(FIRST_ENTRIES, {"code": slot["code"]}).all()
    assert entry.nonce == earlier["nonce"]
    assert data(gate.scan(slot["code"], nonce="now"))["reentry"]
    assert list(list_differences(lambda _: None)) == []


def test_an_online_entry_is_first_unless_an_earlier_one_arrives(client: Client) -> None:
    gate = Gate(client)
    slot = gate.claim()
    online = data(gate.scan(slot["code"], nonce="online", gate="North"))
    assert send(gate, gate.owner, offline_scan(slot["code"], 10, gate="South")) == ["conflict"]
    assert data(gate.owner.get(f"{gate.path}/stats"))["gates"][1]["admitted"] == 1
    listed = data(gate.owner.get(f"{gate.block.events}/will-call"))["slots"][0]
    assert listed["gate"] == "South"
    again = data(gate.scan(slot["code"], nonce="online"))
    assert (again["admissionId"], again["gate"]) == (online["admissionId"], "North")


@pytest.mark.parametrize("undone", [0, 1, 2])
def test_undoing_one_of_three_entries_leaves_one_conflict(client: Client, undone: int) -> None:
    for order in permutations(range(3)):
        gate = Gate(client)
        slot = gate.claim()
        scans = [offline_scan(slot["code"], minutes) for minutes in (30, 20, 10)]
        for number in order:
            send(gate, gate.owner, scans[number])
        ids = {row["gate"]: row["scanId"] for row in data(gate.owner.get(gate.path))["admissions"]}
        data(gate.undo(ids[scans[undone]["gate"]]))
        (conflict,) = data(gate.owner.get(f"{gate.path}/conflicts"))["conflicts"]
        left = [scan["gate"] for number, scan in enumerate(scans) if number != undone]
        assert [entry["gate"] for entry in conflict["entries"]] == left, order
        assert db.session.execute(SLOT, {"code": slot["code"]}).one().gate == left[0], order
        data(gate.undo(ids[left[0]]))
        assert data(gate.owner.get(f"{gate.path}/conflicts"))["conflicts"] == []
        assert db.session.execute(SLOT, {"code": slot["code"]}).one().gate == left[1], order
    assert list(list_differences(lambda _: None)) == []


@pytest.mark.parametrize("order", list(permutations(range(2))))
def test_an_entry_on_a_wrong_day_is_never_the_first(client: Client, order: tuple[int, ...]) -> None:
    gate = Gate(client)
    ticket = gate.sell(valid_from=datetime.now(UTC) - timedelta(minutes=20))
    scans = [offline_scan(ticket.secret or "", minutes) for minutes in (30, 10)]
    for number in order:
        send(gate, gate.owner, scans[number])
    (conflict,) = data(gate.owner.get(f"{gate.path}/conflicts"))["conflicts"]
    assert conflict["reason"] == "WRONG_DAY"
    (entry,) = db.session.execute(FIRST_ENTRIES, {"code": ticket.secret}).all()
    assert entry.gate == "G10"


def test_a_scan_before_the_cancellation_that_arrives_after_it_is_the_first(client: Client) -> None:
    gate = Gate(client)
    ticket = gate.sell()
    data(gate.scan(ticket.secret))
    execute_sql("UPDATE ticket SET status = 'cancelled' WHERE id = :id", id=ticket.id)
    assert send(gate, gate.owner, offline_scan(ticket.secret or "", 10)) == ["conflict"]
    (entry,) = db.session.execute(FIRST_ENTRIES, {"code": ticket.secret}).all()
    assert entry.gate == "G10"


def test_an_undo_does_not_settle_the_conflict_of_a_cancelled_ticket(client: Client) -> None:
    gate = Gate(client)
    ticket = gate.sell()
    admission = data(gate.scan(ticket.secret))["admissionId"]
    execute_sql("UPDATE ticket SET status = 'cancelled' WHERE id = :id", id=ticket.id)
    send(gate, gate.owner, offline_scan(ticket.secret or "", 10))
    data(gate.undo(admission))
    (conflict,) = list_conflicts(gate)
    assert conflict["reason"] == "TICKET_CANCELLED"
