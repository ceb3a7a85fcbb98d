"""The SQL of batches: scans that are logged already, and scans that become conflicts."""

from sqlalchemy import text

from app.admissions.sql import count_entries_sql

FIND_LOGGED_SQL = """
    SELECT nonce, min(scan_id), count(*), max(conflict)
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
KEEP_EARLIEST = {
    "allocation": text("""
        UPDATE allocation_slot SET admitted_at = least(admitted_at, CAST(:occurred_at AS timestamptz))
         WHERE id = :place_id AND event_id = :event_id AND status = 'admitted'"""),
    "ticket": text("""
        UPDATE ticket SET admitted_at = least(admitted_at, CAST(:occurred_at AS timestamptz))
         WHERE id = :place_id AND event_id = :event_id AND admitted_at IS NOT NULL"""),
}
