"""Reads of the log of admissions and of its tallies."""

from sqlalchemy import text

from app.events.queries import OWNED_EVENT_SQL

FIND_SCAN = text("""
    SELECT min(id) FILTER (WHERE position = 0), array_agg(place_id ORDER BY position), min(direction),
           bool_or(is_reentry) FILTER (WHERE position = 0), min(remaining) FILTER (WHERE position = 0),
           min(occurred_at), min(gate), min(actor_name)
      FROM admission WHERE event_id = :event_id AND nonce = :nonce AND conflict IS NULL HAVING count(*) > 0""")
FIND_CONFLICT = text("""
    SELECT 1 FROM admission WHERE event_id = :event_id AND nonce = :nonce AND conflict IS NOT NULL LIMIT 1""")
FIND_EVENT = text(
    f"SELECT e.reentry, e.timezone, e.starts_at, e.ends_at, now() FROM event e WHERE e.id = :event_id AND {OWNED_EVENT_SQL}"
)
LIST_TYPES = text("""
    SELECT y.id, y.name, y.sold, y.sold + y.claimed AS expected, y.valid_from, y.valid_until FROM ticket_type y
     WHERE y.event_id = :event_id ORDER BY y.position""")
SUM_TALLIES = text("""
    SELECT t.ticket_type_id, t.gate, t.quarter, sum(t.first_entries)::integer, sum(t.entries)::integer,
           sum(t.exits)::integer
      FROM admission_tally t WHERE t.event_id = :event_id GROUP BY 1, 2, 3 ORDER BY 3, 2, 1""")
