"""The SQL that logs refused scans."""

from sqlalchemy import TextClause, text

from app.admissions.kinds import ALLOCATION, TICKET


def _insert_sql(period: str, on_conflict: str) -> TextClause:
    """Insert a row for each element of the arrays. `code_start` is kept only of a code that no ticket of the event has."""
    return text(f"""
    INSERT INTO refused_scan AS r
           (id, event_id, reason, place_kind, place_id, ticket_type_id, code_start, fingerprint, period, direction, gate,
            actor_kind, actor_id, actor_name, occurred_at)
    SELECT i.id, :event_id, i.reason, p.kind, p.id, p.ticket_type_id, CASE WHEN p.id IS NULL THEN i.code_start END,
           i.fingerprint, {period}, i.direction, i.gate, :actor_kind, :actor_id, :actor_name,
           least(coalesce(i.occurred_at, now()), now())
      FROM unnest(
           CAST(:id AS text[]), CAST(:reason AS text[]), CAST(:slot_code AS text[]), CAST(:secret AS text[]),
           CAST(:place_id AS text[]), CAST(:code_start AS text[]), CAST(:fingerprint AS text[]),
           CAST(:direction AS text[]), CAST(:gate AS text[]), CAST(:occurred_at AS timestamptz[]))
           AS i (id, reason, slot_code, secret, place_id, code_start, fingerprint, direction, gate, occurred_at)
      LEFT JOIN LATERAL (
           SELECT '{ALLOCATION}' AS kind, s.id, s.ticket_type_id FROM allocation_slot s
            WHERE s.code = i.slot_code AND s.event_id = :event_id
           UNION ALL
           SELECT '{ALLOCATION}', s.id, s.ticket_type_id FROM allocation_slot s
            WHERE s.id = i.place_id AND s.event_id = :event_id
           UNION ALL
           SELECT '{TICKET}', t.id, t.ticket_type_id FROM ticket t
            WHERE t.secret = i.secret AND t.event_id = :event_id
           UNION ALL
           SELECT '{TICKET}', t.id, t.ticket_type_id FROM ticket t
            WHERE t.id = i.place_id AND t.event_id = :event_id
            LIMIT 1) p ON true
        ON CONFLICT (event_id, fingerprint, period) {on_conflict}
    RETURNING r.id""")


INSERT_REFUSED = _insert_sql(
    "date_bin('10 seconds', now(), TIMESTAMPTZ '2000-01-01 00:00:00+00')", "DO UPDATE SET times = r.times + 1"
)
INSERT_REFUSED_LATER = _insert_sql("TIMESTAMPTZ 'epoch'", "DO NOTHING")
"""The batch that is sent again adds and counts nothing."""
