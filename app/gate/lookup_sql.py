"""Reads of the places of an event: by a scan, and by name."""

from sqlalchemy import text

from app.admissions.kinds import ALLOCATION, IN, TICKET
from app.admissions.sql import LOGGED_DAY
from app.events.queries import OWNED_EVENT_SQL
from app.events.reentry import DAILY_REENTRY
from app.gate.sql import BY_CODE, BY_ID, BY_PARTY, IS_OUTSIDE, SLOT_CONDITIONS, TICKET_CONDITIONS, TYPE_OF_PLACE

LIMIT = 50
SEARCH = text(f"""
    SELECT p.id, p.kind, p.name, p.email, y.name, p.status, p.party_size, p.admitted_at, p.left_at,
           coalesce(b.name, b.holder_organisation, b.holder_name), right(p.code, 4), p.phone
      FROM (
        SELECT s.id, '{ALLOCATION}' AS kind, s.event_id, s.ticket_type_id, s.name, s.email, s.status, s.party_size,
               s.admitted_at, s.left_at, s.block_id, s.code, s.phone
          FROM allocation_slot s
         WHERE s.event_id = :event_id AND s.claimed_at IS NOT NULL AND s.ended_at IS NULL
           AND s.search @@ CAST(:words AS tsquery)
        UNION ALL
        SELECT t.id, '{TICKET}', t.event_id, t.ticket_type_id, t.name, t.email,
               CASE WHEN t.admitted_at IS NULL THEN t.status ELSE 'admitted' END, 1, t.admitted_at, t.left_at, NULL,
               t.reference, NULL
          FROM ticket t
         WHERE t.event_id = :event_id AND t.status = 'sold'
           AND (t.search @@ CAST(:words AS tsquery) OR upper(t.order_number) = upper(:q))) p
      JOIN ticket_type y ON y.id = p.ticket_type_id AND y.event_id = p.event_id
      LEFT JOIN allocation_block b ON b.id = p.block_id AND b.event_id = p.event_id
     ORDER BY lower(p.name), p.id LIMIT {LIMIT}""")
FIND_EVENT = text(f"""
    SELECT e.id, e.organiser_id, e.timezone, e.reentry, now() FROM event e WHERE e.id = :event_id AND {OWNED_EVENT_SQL}""")
FIND_PLACES = {
    key: text(f"""
    SELECT p.kind, p.id, p.status, p.name, p.ticket_type_id, y.name, coalesce(p.valid_from, y.valid_from),
           coalesce(p.valid_until, y.valid_until), p.admitted_at,
           p.left_at, p.ended_at, p.party_id, p.outside, coalesce(entry.occurred_at, p.admitted_at),
           CASE WHEN entry.id IS NULL THEN p.gate ELSE entry.gate END,
           coalesce(entry.actor_name, (SELECT account.name FROM account WHERE account.id = p.admitted_by)),
           ARRAY(SELECT {LOGGED_DAY} FROM admission a
                  WHERE e.reentry = '{DAILY_REENTRY}' AND a.event_id = p.event_id AND a.place_id = p.id
                    AND a.direction = '{IN}' AND a.undone_at IS NULL)
      FROM (
        SELECT '{ALLOCATION}' AS kind, s.id, s.event_id, s.status, s.name, s.ticket_type_id,
               NULL::timestamptz AS valid_from, NULL::timestamptz AS valid_until, s.admitted_at, s.left_at, s.ended_at,
               s.party_id, s.gate, s.admitted_by,
               (SELECT count(*) FROM allocation_slot o
                 WHERE o.party_id = s.party_id AND o.party_size > 1 AND s.party_size > 1
                   AND o.event_id = s.event_id AND {IS_OUTSIDE.format(moment="now()")}) AS outside
          FROM allocation_slot s JOIN event e ON e.id = s.event_id
         WHERE {SLOT_CONDITIONS[key]} AND s.event_id = :event_id
        UNION ALL
        SELECT '{TICKET}', t.id, t.event_id, t.status, t.name, t.ticket_type_id, t.valid_from, t.valid_until,
               t.admitted_at, t.left_at, NULL, NULL, NULL, NULL, 0
          FROM ticket t
         WHERE {TICKET_CONDITIONS[key]} AND t.event_id = :event_id) p
      JOIN event e ON e.id = p.event_id
      {TYPE_OF_PLACE.format(place="p")}
      LEFT JOIN LATERAL (
        SELECT a.id, a.occurred_at, a.gate, a.actor_name FROM admission a
         WHERE a.event_id = p.event_id AND a.place_id = p.id AND a.direction = '{IN}' AND a.undone_at IS NULL
         ORDER BY a.occurred_at DESC, a.id DESC LIMIT 1) entry
        ON true
     ORDER BY p.id""")
    for key in (BY_CODE, BY_ID, BY_PARTY)
}
FIND_OTHER_EVENT = text("""
    SELECT e.name FROM event e
     WHERE e.organiser_id = :organiser_id AND e.id <> :event_id
       AND (EXISTS (SELECT FROM allocation_slot s WHERE s.code = :slot_code AND s.event_id = e.id)
            OR EXISTS (SELECT FROM ticket t WHERE t.secret = :secret AND t.event_id = e.id))
     LIMIT 1""")
