"""Rules of stock and tickets: S1 to S3, T1 to T3."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from app.inventory.commands import Difference
from app.inventory.sql import COUNTS_SQL, MOVEMENT_SUMS_SQL
from tests.allocations import law as allocation_laws
from tests.events import law as event_laws
from tests.faults.suite.evidence import SHOWN, Evidence, law
from tests.faults.suite.request_log import FAIL, OK


@law("S1 the book")
def the_book(found: Evidence) -> Iterator[str]:
    for query in (MOVEMENT_SUMS_SQL, COUNTS_SQL):
        for item in map(Difference._make, found.driver_rows(query, {"event": None, "most": SHOWN})):
            yield f"{item.sku}, {item.quantity_name}: {item.stored_quantity}, the book says {item.movement_total}"
    query = "SELECT sku FROM inventory_item WHERE least(on_hand, reserved, damaged, available) < 0"
    yield from (f"{row.sku} is below zero" for row in found.rows(query))


@law("S1 movements")
def movements(found: Evidence) -> Iterator[str]:
    """A yes is one movement, a no is none."""
    query = "SELECT reference, item_id, delta FROM inventory_movement WHERE reference IS NOT NULL"
    rows = found.rows(query)
    count = Counter(row.reference for row in rows)
    deltas = {row.reference: (row.item_id, row.delta) for row in rows}
    for asked in found.journal.of("adjust"):
        key, wanted = asked.about["key"], (asked.about["item"], Decimal(asked.about["delta"]))
        if asked.outcome == OK and (count[key] != 1 or deltas[key] != wanted):
            yield f"movement {key} was acknowledged and stands {count[key]} times in the book"
        if asked.outcome == FAIL and count[key] or count[key] > 1:
            yield f"movement {key} was refused or asked for once, and stands {count[key]} times in the book"


@law("S2 imports")
def imports(found: Evidence) -> Iterator[str]:
    """All rows of a sheet or none, and each once."""
    query = """
        SELECT split_part(i.sku, '-', 1) AS prefix, count(DISTINCT i.id) AS items, count(m.seq) AS movements,
               bool_and(i.on_hand = 5) AS right
          FROM inventory_item i LEFT JOIN inventory_movement m ON m.item_id = i.id
         WHERE i.sku ~ '^I[0-9a-f]+-' GROUP BY 1"""
    there = {row.prefix: row for row in found.rows(query)}
    failed = {row.id for row in found.rows("SELECT id FROM inventory_job WHERE status = 'failed'")}
    for asked in found.journal.of("import"):
        row, rows = there.get(asked.about["prefix"]), asked.about["rows"]
        if row and (row.items != rows or row.movements != rows or not row.right):
            yield f"of the sheet {asked.about['prefix']} {row.items} of {rows} are there, {row.movements} movements"
        if asked.outcome == OK and row is None and asked.data.get("jobId") not in failed:
            yield f"the sheet {asked.about['prefix']} was acknowledged and is not there"
        if asked.outcome == FAIL and row:
            yield f"the sheet {asked.about['prefix']} was refused and is there"


@law("S3 round trip")
def round_trip(found: Evidence) -> Iterator[str]:
    """What was exported changes nothing when it comes in again."""
    said = found.round_trip
    if said is not None and (said.get("created"), said.get("updated"), said.get("errors")) != (0, 0, []):
        yield f"the export came in again as {said}"


@law("T1 places")
def places(found: Evidence) -> Iterator[str]:
    """Every place is counted once: by slot, block, type, day and history."""
    statements: dict[str, Any] = {
        "counters": event_laws.BROKEN,
        "blocks": allocation_laws.BLOCKS,
        "types": allocation_laws.TYPES,
        "days": allocation_laws.DAYS,
        "history": allocation_laws.HISTORY,
    }
    for name, statement in statements.items():
        yield from (f"{name} of {row[0]} do not agree" for row in found.rows(str(statement)))


@law("T2 admissions")
def admissions(found: Evidence) -> Iterator[str]:
    """Nobody is let in twice, or with a place that was taken away."""
    query = """
        SELECT slot_id FROM allocation_slot_event GROUP BY slot_id
        HAVING count(*) FILTER (WHERE to_status = 'admitted') - count(*) FILTER (WHERE verb = 'undo') > 1
        UNION SELECT id FROM allocation_slot WHERE admitted_at IS NOT NULL AND ended_at IS NOT NULL"""
    yield from (f"slot {row[0]} was admitted twice, or admitted and taken away" for row in found.rows(query))


@law("T3 acknowledged")
def acknowledged(found: Evidence) -> Iterator[str]:
    """Who was told that they have a place, or is in, is in the tables; codes are unique."""
    slots = {row.id: row for row in found.rows("SELECT id, status, email, nonce, code FROM allocation_slot")}
    for asked in found.said_yes("claim"):
        named = {told["slotId"] for told in asked.told}
        row = slots.get(next(iter(named)))
        if len(named) > 1 or row is None or row.email != asked.about["email"] or row.status not in CLAIMED:
            yield f"the claim of {asked.about['email']} was acknowledged as {named} and is not there"
    emails = Counter(row.email for row in slots.values() if row.status in CLAIMED)
    for asked in found.journal.of("claim"):
        if emails[asked.about["email"]] > (asked.outcome != FAIL):
            yield f"{asked.about['email']} has {emails[asked.about['email']]} places"
    for asked in found.said_yes("admit"):
        row = slots.get(asked.about["slot"])
        if row is None or row.status != "admitted" or row.nonce != asked.about["nonce"]:
            yield f"scan {asked.about['nonce']} was let in and is not in the table"
    codes = Counter(row.code for row in slots.values() if row.code)
    yield from (f"code {code} stands {count} times" for code, count in codes.items() if count > 1)


CLAIMED = ("claimed", "admitted")
