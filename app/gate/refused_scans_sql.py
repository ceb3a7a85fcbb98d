"""The SQL that logs a refused scan."""

from sqlalchemy import text

from app.admissions.kinds import ALLOCATION, TICKET
from app.gate.sql import BY_CODE, BY_ID, SLOT_CONDITIONS, TICKET_CONDITIONS

INSERT_REFUSED = {
    key: text(f"""
    INSERT INTO refused_scan AS r
           (id, event_id, reason, place_kind, place_id, ticket_type_id, code_start, fingerprint, period, direction, gate,
            actor_kind, actor_id, actor_name, occurred_at)
    SELECT :id, :event_id, :reason, p.kind, p.id, p.ticket_type_id, CASE WHEN p.id IS NULL THEN :code_start END,
           :fingerprint, date_bin('10 seconds', now(), TIMESTAMPTZ '2000-01-01 00:00:00+00'), :direction, :gate,
           :actor_kind, :actor_id, :actor_name, least(coalesce(CAST(:occurred_at AS timestamptz), now()), now())
      FROM (SELECT) one
      LEFT JOIN LATERAL (
           SELECT '{ALLOCATION}' AS kind, s.id, s.ticket_type_id FROM allocation_slot s
            WHERE {SLOT_CONDITIONS[key]} AND s.event_id = :event_id
           UNION ALL
           SELECT '{TICKET}', t.id, t.ticket_type_id FROM ticket t
            WHERE {TICKET_CONDITIONS[key]} AND t.event_id = :event_id
            LIMIT 1) p ON true
        ON CONFLICT (event_id, fingerprint, period) DO UPDATE SET times = r.times + 1
    RETURNING r.id""")
    for key in (BY_CODE, BY_ID)
}
