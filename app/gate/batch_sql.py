"""The SQL of batches: scans that are logged already, and scans that become conflicts."""

from sqlalchemy import text

from app.admissions.sql import count_entries_sql

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
"""Conflicts count as re-entries, until an undo of the first entry makes one of them the first."""
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
_FIRST_ENTRY = """
        (SELECT min(a.occurred_at) FROM admission a
          WHERE a.event_id = :event_id AND a.place_id = :place_id AND a.direction = 'in' AND a.undone_at IS NULL)"""
_LAST_EXIT = """
        (SELECT CASE WHEN a.direction = 'out' THEN a.occurred_at END FROM admission a
          WHERE a.event_id = :event_id AND a.place_id = :place_id AND a.undone_at IS NULL
          ORDER BY a.occurred_at DESC, a.id DESC LIMIT 1)"""
REFRESH_PLACE = {
    "allocation": text(f"""
        UPDATE allocation_slot s
           SET admitted_at = least(s.admitted_at, {_FIRST_ENTRY}),
               left_at = CASE WHEN e.reentry = 'counted' THEN {_LAST_EXIT} ELSE s.left_at END
          FROM event e
         WHERE s.id = :place_id AND s.event_id = :event_id AND s.status = 'admitted' AND e.id = s.event_id"""),
    "ticket": text(f"""
        UPDATE ticket t
           SET admitted_at = least(t.admitted_at, {_FIRST_ENTRY}),
               left_at = CASE WHEN e.reentry = 'counted' THEN {_LAST_EXIT} ELSE t.left_at END
          FROM event e
         WHERE t.id = :place_id AND t.event_id = :event_id AND t.admitted_at IS NOT NULL AND e.id = t.event_id"""),
}
"""Sets the first entry and the last exit of a place by the log, because scans arrive in any order."""
