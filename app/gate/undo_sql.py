"""The statements that undo a scan. Places are locked first, in the order of their ids, then the rows of the log."""

from sqlalchemy import text

from app.admissions.sql import ENTRY_ORDER, LOGGED_DAY, STRIPES, add_to_tallies_sql, count_entries_sql
from app.allocations.errors import AlreadyAdmitted, PartyTooSmall
from app.events.reentry import DAILY_REENTRY

FIND_ROWS = text("""
    SELECT a.scan_id, a.id, a.place_kind, a.place_id, a.ticket_type_id, a.direction, a.is_reentry, a.actor_kind,
           a.actor_id, a.undone_at, a.undone_by, a.undo_reason,
           a.recorded_at > now() - CAST(:own_time AS interval) AS is_recent
      FROM admission a
     WHERE a.event_id = :event_id AND a.scan_id =
           (SELECT s.scan_id FROM admission s WHERE s.id = :admission_id AND s.event_id = :event_id)
     ORDER BY a.position""")
LOCK_SLOTS = text("""
    SELECT s.id FROM allocation_slot s WHERE s.event_id = :event_id AND s.id = ANY(CAST(:place_ids AS text[]))
     ORDER BY s.id FOR NO KEY UPDATE""")
LOCK_TICKETS = text("""
    SELECT t.id FROM ticket t WHERE t.event_id = :event_id AND t.id = ANY(CAST(:place_ids AS text[]))
     ORDER BY t.id FOR NO KEY UPDATE""")
LOCK_ROWS = text("""
    SELECT a.id FROM admission a WHERE a.event_id = :event_id AND a.scan_id = :scan_id ORDER BY a.id FOR UPDATE""")
HAS_LEFT_SINCE = text("""
    SELECT 1 FROM admission a JOIN admission o ON o.place_id = a.place_id AND o.event_id = a.event_id
     WHERE a.event_id = :event_id AND a.scan_id = :scan_id AND a.direction = 'in' AND o.direction = 'out'
       AND o.undone_at IS NULL AND o.occurred_at >= a.occurred_at LIMIT 1""")
UNDO_ROWS = text(f"""
    WITH changed AS (
        UPDATE admission a
           SET undone_at = now(), undone_by = :undone_by, undo_reason = :reason,
               transaction_id = pg_current_xact_id()
         WHERE a.event_id = :event_id AND a.scan_id = :scan_id AND a.undone_at IS NULL
        RETURNING a.*),
    {count_entries_sql(sign="-")}
    SELECT undone_at FROM changed""")
FIRST_AGAIN = text(f"""
    WITH changed AS (
        UPDATE admission a SET is_reentry = false, transaction_id = pg_current_xact_id()
          FROM unnest(CAST(:place_ids AS text[])) p (id)
         WHERE a.event_id = :event_id AND a.is_reentry AND a.id = (
               SELECT a.id FROM admission a
                WHERE a.event_id = :event_id AND a.place_id = p.id AND a.direction = 'in' AND a.undone_at IS NULL
                ORDER BY a.is_reentry, {ENTRY_ORDER} LIMIT 1)
        RETURNING a.ticket_type_id, a.event_id, a.gate, a.occurred_at),
    {add_to_tallies_sql("changed", first_entries="count(*)", entries="0", exits="0")}
    SELECT count(*) FROM changed""")
"""The next entry of a place becomes its first one."""
SETTLE_CONFLICTS = text(f"""
    WITH undone AS (
        SELECT a.event_id, a.place_id, CASE WHEN e.reentry = '{DAILY_REENTRY}' THEN {LOGGED_DAY} END AS day
          FROM admission a JOIN event e ON e.id = a.event_id
         WHERE a.event_id = :event_id AND a.scan_id = :scan_id AND a.direction = 'in' AND a.conflict IS NULL),
    entries AS (
        SELECT a.id, a.conflict, row_number() OVER (PARTITION BY a.place_id ORDER BY a.is_reentry, {ENTRY_ORDER}) AS number,
               bool_and(a.conflict IS NOT NULL) OVER (PARTITION BY a.place_id) AS has_only_conflicts
          FROM undone u
          JOIN event e ON e.id = u.event_id
          JOIN admission a ON a.event_id = u.event_id AND a.place_id = u.place_id
         WHERE a.direction = 'in' AND a.undone_at IS NULL AND (u.day IS NULL OR u.day = {LOGGED_DAY}))
    UPDATE admission a SET conflict = NULL, transaction_id = pg_current_xact_id()
      FROM entries n
     WHERE a.event_id = :event_id AND a.id = n.id AND n.number = 1 AND n.has_only_conflicts
       AND n.conflict IN ('{AlreadyAdmitted.code}', '{PartyTooSmall.code}')
    RETURNING a.id""")
"""If the undone entry was the only one that is no conflict, the first that is left is none any more (of the same day, where
a ticket enters once a day): unless there is another reason, such as a cancelled ticket."""
STATE = """
    state AS (
        SELECT p.id,
               first.id IS NOT NULL AS has_first, first.occurred_at AS first_at, first.gate, first.nonce,
               first.actor_kind, first.actor_id,
               (SELECT CASE WHEN a.direction = 'out' THEN a.occurred_at END FROM admission a
                 WHERE a.event_id = :event_id AND a.place_id = p.id AND a.undone_at IS NULL
                 ORDER BY a.occurred_at DESC, a.id DESC LIMIT 1) AS left_at
          FROM unnest(CAST(:place_ids AS text[])) p (id)
          LEFT JOIN admission first ON first.event_id = :event_id AND first.place_id = p.id AND first.direction = 'in'
               AND NOT first.is_reentry AND first.undone_at IS NULL)"""
REFRESH_TICKETS = text(f"""
    WITH {STATE}
    UPDATE ticket t
       SET admitted_at = CASE WHEN :first THEN f.first_at ELSE coalesce(f.first_at, t.admitted_at) END,
           left_at = CASE WHEN :first AND f.first_at IS NULL THEN NULL ELSE f.left_at END
      FROM state f WHERE t.id = f.id AND t.event_id = :event_id RETURNING t.id""")
REFRESH_SLOTS = text(f"""
    WITH {STATE},
    admitted_slots AS (
        SELECT s.id, NOT :first OR f.has_first AS stays, f.left_at,
               CASE WHEN :first THEN f.first_at ELSE coalesce(f.first_at, s.admitted_at) END AS admitted_at,
               CASE WHEN f.has_first THEN f.gate ELSE s.gate END AS gate,
               CASE WHEN f.has_first THEN f.nonce ELSE s.nonce END AS nonce,
               CASE WHEN NOT f.has_first THEN s.admitted_by
                    WHEN f.actor_kind = 'person' THEN f.actor_id ELSE e.organiser_id END AS admitted_by
          FROM state f
          JOIN allocation_slot s ON s.id = f.id AND s.event_id = :event_id AND s.status = 'admitted'
          JOIN event e ON e.id = s.event_id),
    changed AS (
        UPDATE allocation_slot s
           SET status = CASE WHEN f.stays THEN 'admitted' ELSE 'claimed' END, admitted_at = f.admitted_at,
               admitted_by = CASE WHEN f.stays THEN f.admitted_by END, gate = CASE WHEN f.stays THEN f.gate END,
               nonce = CASE WHEN f.stays THEN f.nonce END, left_at = CASE WHEN f.stays THEN f.left_at END,
               version = s.version + 1
          FROM admitted_slots f WHERE s.id = f.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, s.status),
    slot_events AS (
        INSERT INTO allocation_slot_event (slot_id, block_id, event_id, verb, from_status, to_status, actor, actor_id)
        SELECT id, block_id, event_id, 'undo', 'admitted', 'claimed', :actor, :actor_id
          FROM changed WHERE status = 'claimed'),
    days AS (
        SELECT c.ticket_type_id, c.block_id, c.event_id, (a.recorded_at AT TIME ZONE e.timezone)::date AS day,
               count(*) AS count
          FROM changed c
          JOIN admission a ON a.event_id = c.event_id AND a.place_id = c.id AND a.scan_id = :scan_id
               AND a.direction = 'in' AND NOT a.is_reentry
          JOIN event e ON e.id = c.event_id
         WHERE c.status = 'claimed' GROUP BY 1, 2, 3, 4),
    admissions AS (
        INSERT INTO ticket_admission AS a (ticket_type_id, block_id, event_id, day, stripe, count)
        SELECT ticket_type_id, block_id, event_id, day, pg_backend_pid() % {STRIPES}, -count FROM days
        ON CONFLICT ON CONSTRAINT pk_ticket_admission DO UPDATE SET count = a.count + excluded.count)
    SELECT id FROM changed""")
