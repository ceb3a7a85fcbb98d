"""The SQL of what a gate must know of an event: its places as JSON lists, and which of them changed."""

from app.admissions.kinds import IN
from app.core.change_positions import POSITION_SQL

NEW_SQL = "{id} >= pg_snapshot_xmin(p.snapshot) AND NOT pg_visible_in_snapshot({id}, p.snapshot)"
CHANGED_PLACES_SQL = f"""
WITH reader AS MATERIALIZED ({POSITION_SQL} AS position)
SELECT reader.position, p.number, c.place_id
  FROM reader CROSS JOIN unnest(%(snapshots)s::text[]::pg_snapshot[]) WITH ORDINALITY p(snapshot, number)
  LEFT JOIN LATERAL (
       SELECT place_id FROM (
           SELECT a.place_id FROM admission a
            WHERE a.event_id = %(event)s AND a.place_id IS NOT NULL AND {NEW_SQL.format(id="a.transaction_id")}
           UNION
           SELECT e.slot_id FROM allocation_slot_event e
            WHERE e.event_id = %(event)s AND e.verb <> 'admit'
              AND (e.to_status IN ('claimed', 'admitted', 'revoked') OR e.from_status IN ('claimed', 'admitted'))
              AND {NEW_SQL.format(id="e.transaction_id")}
           UNION
           SELECT t.id FROM ticket t WHERE t.event_id = %(event)s AND {NEW_SQL.format(id="t.transaction_id")}
           UNION
           SELECT c.ticket_id FROM ticket_import i
             JOIN ticket_import_change c ON c.import_id = i.id AND c.event_id = i.event_id AND c.status IS NULL
            WHERE i.event_id = %(event)s AND i.undone_at IS NOT NULL
              AND {NEW_SQL.format(id="i.undo_transaction_id")}
       ) changed LIMIT %(most)s) c ON true"""
"""The ids of changed and removed places for each of several snapshots, by number, with the new position; null for no change."""


def places_sql(*, by_id: bool, is_daily: bool) -> str:
    """Return the SQL of all places of an event, or of those with `ids`: each as the text of a JSON list.

    The list is: id, kind (`a` of a block, `t` imported), hash of the code, name, number of the ticket type, state
    (`c` may enter, `a` admitted, `r` revoked or cancelled), party, time of the admission, gate, first
    and last moment of its own validity, time of leaving; where a ticket enters
    once a day, also the time of the last entry. Times are seconds since 1970.
    """
    slots = "s.id = ANY(%(ids)s)" if by_id else "true"
    tickets = "t.id = ANY(%(ids)s)" if by_id else "true"
    return f"""
        SELECT s.id, json_build_array(
                   s.id, 'a', {_hash_sql("s.code")}, s.name,
                   array_position(%(types)s::text[], s.ticket_type_id::text) - 1,
                   CASE s.status WHEN 'claimed' THEN 'c' WHEN 'admitted' THEN 'a' ELSE 'r' END,
                   CASE WHEN s.party_size > 1 THEN s.party_id END, {_epoch_sql("s.admitted_at")}, s.gate,
                   NULL, NULL, {_epoch_sql("s.left_at")}{_last_entry_sql("s") if is_daily else ""})::text
          FROM allocation_block b
          JOIN allocation_slot s ON s.block_id = b.id AND s.event_id = b.event_id
         WHERE b.event_id = %(event)s AND s.status IN ('claimed', 'admitted', 'revoked')
           AND s.claimed_at IS NOT NULL AND s.code IS NOT NULL AND {slots}
        UNION ALL
        SELECT t.id, json_build_array(
                   t.id, 't', {_hash_sql("t.secret")}, t.name,
                   array_position(%(types)s::text[], t.ticket_type_id::text) - 1,
                   CASE WHEN t.status <> 'sold' THEN 'r' WHEN t.admitted_at IS NULL THEN 'c' ELSE 'a' END,
                   NULL, {_epoch_sql("t.admitted_at")}, entry.gate,
                   {_epoch_sql("t.valid_from")}, {_epoch_sql("t.valid_until")},
                   {_epoch_sql("t.left_at")}{_last_entry_sql("t") if is_daily else ""})::text
          FROM ticket t
          LEFT JOIN LATERAL (
               SELECT a.gate FROM admission a
                WHERE a.event_id = t.event_id AND a.place_id = t.id AND a.direction = '{IN}' AND a.undone_at IS NULL
                ORDER BY a.occurred_at LIMIT 1) entry ON t.admitted_at IS NOT NULL
         WHERE t.event_id = %(event)s AND {tickets}"""


def _last_entry_sql(place: str) -> str:
    return f""",
                   CASE WHEN {place}.admitted_at IS NOT NULL THEN (
                       SELECT {_epoch_sql("max(a.occurred_at)")} FROM admission a
                        WHERE a.event_id = {place}.event_id AND a.place_id = {place}.id AND a.direction = '{IN}'
                          AND a.undone_at IS NULL) END"""


def _hash_sql(code: str) -> str:
    hashed = f"substring(sha256(convert_to(%(salt)s || {code}, 'UTF8')) FOR 12)"
    return f"translate(encode({hashed}, 'base64'), '+/', '-_')"


def _epoch_sql(moment: str) -> str:
    return f"extract(epoch FROM {moment})::bigint"
