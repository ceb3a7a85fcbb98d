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
        OR (SELECT count(*) FILTER (WHERE e.to_status = 'admitted') - count(*) FILTER (WHERE e.verb = 'undo')
              FROM allocation_slot_event e WHERE e.slot_id = s.id) > 1
""")
ADMISSIONS = text("""
    SELECT p.id FROM (
        SELECT id, event_id, admitted_at FROM allocation_slot
        UNION ALL SELECT id, event_id, admitted_at FROM ticket) p
     WHERE (p.admitted_at IS NOT NULL) IS DISTINCT FROM EXISTS (
           SELECT FROM admission a
            WHERE a.event_id = p.event_id AND a.place_id = p.id AND a.direction = 'in' AND a.undone_at IS NULL)
        OR (SELECT count(*) FROM admission a
             WHERE a.event_id = p.event_id AND a.place_id = p.id AND a.direction = 'in' AND a.undone_at IS NULL
               AND NOT a.is_reentry) <> (p.admitted_at IS NOT NULL)::integer
""")
TALLIES = text("""
    SELECT ticket_type_id FROM (
        SELECT ticket_type_id, coalesce(gate, '') AS gate,
               (direction = 'in' AND NOT is_reentry)::integer AS first_entries,
               (direction = 'in')::integer AS entries, (direction = 'out')::integer AS exits
          FROM admission WHERE undone_at IS NULL AND ticket_type_id IS NOT NULL
        UNION ALL
        SELECT ticket_type_id, gate, -first_entries, -entries, -exits FROM admission_tally) f
     GROUP BY ticket_type_id, gate HAVING (sum(first_entries), sum(entries), sum(exits)) <> (0, 0, 0)
""")


def assert_books_agree() -> None:
    """Check that slots, blocks, ticket types, figures of the day, slot events, the log of admissions and its tallies agree."""
    assert_law_holds()
    for statement in (BLOCKS, TYPES, DAYS, HISTORY, ADMISSIONS, TALLIES):
        assert db.session.scalars(statement).all() == [], statement.text
