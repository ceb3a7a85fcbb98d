"""The SQL of batches: scans that are logged already, and scans that become conflicts."""

from sqlalchemy import text

from app.admissions.sql import ENTRY_ORDER, add_to_tallies_sql, count_entries_sql
from app.allocations.errors import NotClaimed
from app.gate.errors import WrongDay

FIND_LOGGED_SQL = """
    SELECT nonce, min(scan_id), count(*), max(conflict), min(direction), min(place_id), max(code)
      FROM admission WHERE event_id = %(event)s AND nonce = ANY(%(nonces)s) GROUP BY nonce"""
INSERT_CONFLICTS = text(f"""
    WITH changed AS (
        INSERT INTO admission
               (id, event_id, place_kind, place_id, ticket_type_id, scan_id, position, nonce, direction, is_reentry, gate,
                actor_kind, actor_id, actor_name, occurred_at, conflict, code)
        SELECT (CAST(:ids AS text[]))[number - :first + 1], :event_id, :place_kind, :place_id, :ticket_type_id,
               coalesce(CAST(:scan_id AS text), (CAST(:ids AS text[]))[1]), number, :nonce, :direction, true, :gate,
               :actor_kind, :actor_id, :actor_name, least(CAST(:occurred_at AS timestamptz), now()), :conflict, :code
          FROM generate_series(CAST(:first AS int), CAST(:last AS int)) number
        ON CONFLICT (event_id, nonce, position) WHERE nonce IS NOT NULL DO NOTHING
        RETURNING *),
    {count_entries_sql()}
    SELECT scan_id FROM changed""")
"""Conflicts count as re-entries, until ORDER_ENTRIES or an undo of the first entry makes one of them the first."""
LOCK_PLACE = {
    "allocation": text("""
        SELECT s.id FROM allocation_slot s WHERE s.id = :place_id AND s.event_id = :event_id FOR NO KEY UPDATE"""),
    "ticket": text("SELECT t.id FROM ticket t WHERE t.id = :place_id AND t.event_id = :event_id FOR NO KEY UPDATE"),
}
FIND_SCAN_PLACES = text("""
    SELECT a.place_kind, a.place_id FROM admission a
     WHERE a.event_id = :event_id AND a.scan_id = :scan_id AND a.place_id IS NOT NULL ORDER BY a.place_id""")
TOUCH_SCAN = text("""
    UPDATE admission SET transaction_id = pg_current_xact_id() WHERE event_id = :event_id AND scan_id = :scan_id""")
"""Shows the places of the scan to readers of changes again."""
ORDER_ENTRIES = text(f"""
    WITH entries AS (
        SELECT a.id, a.is_reentry, row_number() OVER (ORDER BY {ENTRY_ORDER}) AS number,
               bool_and(a.is_reentry) OVER () AS has_no_first
          FROM admission a
         WHERE a.event_id = :event_id AND a.place_id = :place_id AND a.direction = 'in' AND a.undone_at IS NULL
           AND coalesce(a.conflict, '') NOT IN ('{WrongDay.code}', '{NotClaimed.code}')),
    changed AS (
        UPDATE admission a SET is_reentry = n.number > 1, transaction_id = pg_current_xact_id()
          FROM entries n
         WHERE a.id = n.id AND a.event_id = :event_id AND n.is_reentry <> (n.number > 1) AND NOT n.has_no_first
        RETURNING a.ticket_type_id, a.event_id, a.gate, a.occurred_at, a.is_reentry),
    {
    add_to_tallies_sql("changed", first_entries="sum(CASE WHEN is_reentry THEN -1 ELSE 1 END)", entries="0", exits="0")
}
    SELECT count(*) FROM changed""")
"""Makes the earliest scan of a place its first entry, if it has one: not a scan before the ticket was valid or claimed.

`conflict` stays with the scan that arrived later.
"""
_LAST_EXIT = """
        (SELECT CASE WHEN a.direction = 'out' THEN a.occurred_at END FROM admission a
          WHERE a.event_id = :event_id AND a.place_id = :place_id AND a.undone_at IS NULL
          ORDER BY a.occurred_at DESC, a.id DESC LIMIT 1)"""
_EVENT_AND_FIRST_ENTRY = """event e
          LEFT JOIN admission f ON f.event_id = e.id AND f.place_id = :place_id AND f.direction = 'in'
               AND NOT f.is_reentry AND f.undone_at IS NULL"""
REFRESH_PLACE = {
    "allocation": text(f"""
        UPDATE allocation_slot s
           SET admitted_at = coalesce(f.occurred_at, s.admitted_at),
               gate = CASE WHEN f.id IS NULL THEN s.gate ELSE f.gate END,
               nonce = CASE WHEN f.id IS NULL THEN s.nonce ELSE f.nonce END,
               admitted_by = CASE WHEN f.id IS NULL THEN s.admitted_by
                                  WHEN f.actor_kind = 'person' THEN f.actor_id ELSE e.organiser_id END,
               left_at = CASE WHEN e.reentry = 'counted' THEN {_LAST_EXIT} ELSE s.left_at END
          FROM {_EVENT_AND_FIRST_ENTRY}
         WHERE s.id = :place_id AND s.event_id = :event_id AND s.status = 'admitted' AND e.id = s.event_id"""),
    "ticket": text(f"""
        UPDATE ticket t
           SET admitted_at = coalesce(f.occurred_at, t.admitted_at),
               left_at = CASE WHEN e.reentry = 'counted' THEN {_LAST_EXIT} ELSE t.left_at END
          FROM {_EVENT_AND_FIRST_ENTRY}
         WHERE t.id = :place_id AND t.event_id = :event_id AND t.admitted_at IS NOT NULL AND e.id = t.event_id"""),
}
"""Sets the first entry and the last exit of a place by the log. Slots admitted before the log have no first entry in it."""
