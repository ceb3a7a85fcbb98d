"""Invariants of allocations, checked in the tables at the end of tests."""

from sqlalchemy import text

from app.core.db import db
from tests.events.law import assert_law_holds

STATES = ("available", "invited", "claimed", "admitted", "revoked", "released")
COUNTED = ", ".join(f"count(s.id) FILTER (WHERE s.status = '{state}') AS {state}" for state in STATES)
COUNTERS = {state: f"k.{state}" for state in STATES} | {"claimed": "k.claimed - a.inside", "admitted": "a.inside"}
DIFFERENT = " OR ".join(f"{counter} <> c.{item}" for item, counter in COUNTERS.items())
INSIDE = "LATERAL (SELECT coalesce(sum(count), 0) AS inside FROM ticket_admission"
BLOCKS = text(f"""
    SELECT k.id FROM allocation_block k
      JOIN (SELECT b.id, {COUNTED} FROM allocation_block b LEFT JOIN allocation_slot s ON s.block_id = b.id
             GROUP BY b.id) c ON c.id = k.id
     CROSS JOIN {INSIDE} WHERE block_id = k.id) a
     WHERE {DIFFERENT} OR k.held <> k.available + k.invited + k.claimed + k.admitted
""")
TYPES = text(f"""
    SELECT k.name FROM ticket_type k
      JOIN (SELECT t.id, {COUNTED} FROM ticket_type t LEFT JOIN allocation_slot s ON s.ticket_type_id = t.id
             GROUP BY t.id) c ON c.id = k.id
     CROSS JOIN {INSIDE} WHERE ticket_type_id = k.id) a
     WHERE {DIFFERENT} OR k.total + k.oversold <> k.public + c.available + c.invited + c.claimed + c.admitted + k.sold
""")
DAYS = text("""
    SELECT k.id FROM ticket_type k
      LEFT JOIN (SELECT ticket_type_id, sum(revoked) AS revoked, sum(released) AS released
                   FROM ticket_tally GROUP BY 1) d ON d.ticket_type_id = k.id
     WHERE (k.admitted, k.revoked, k.released) IS DISTINCT FROM
           (0, coalesce(d.revoked, 0), coalesce(d.released, 0))
""")
HISTORY = text("""
    SELECT s.id FROM allocation_slot s
     WHERE s.status IS DISTINCT FROM
           (SELECT e.to_status FROM allocation_slot_event e WHERE e.slot_id = s.id ORDER BY e.id DESC LIMIT 1)
        OR (SELECT count(*) FROM allocation_slot_event e WHERE e.slot_id = s.id AND e.to_status = 'admitted') > 1
""")


def assert_books_agree() -> None:
    """Check that slots, blocks, ticket types, figures of the day and slot events agree."""
    assert_law_holds()
    for statement in (BLOCKS, TYPES, DAYS, HISTORY):
        assert db.session.scalars(statement).all() == [], statement.text
