"""The SQL of the integrity checks of the gate: where the tallies or the admitted places differ from the log."""

from app.admissions.sql import QUARTER

TALLIES_UNLIKE_THE_LOG = f"""
    SELECT 'event ' || event_id || ', ticket type ' || ticket_type_id || ', gate ' || coalesce(nullif(gate, ''), '(none)')
           || ', ' || (quarter AT TIME ZONE 'UTC') || ': the log has ' || sum(logged_first) || ' first entries, '
           || sum(logged_in) || ' entries, ' || sum(logged_out) || ' exits; counted are ' || sum(first_entries) || ', '
           || sum(entries) || ', ' || sum(exits)
      FROM (SELECT event_id, ticket_type_id, coalesce(gate, '') AS gate, {QUARTER} AS quarter,
                   (direction = 'in' AND NOT is_reentry)::integer AS logged_first, (direction = 'in')::integer AS logged_in,
                   (direction = 'out')::integer AS logged_out, 0 AS first_entries, 0 AS entries, 0 AS exits
              FROM admission WHERE undone_at IS NULL AND ticket_type_id IS NOT NULL
            UNION ALL
            SELECT event_id, ticket_type_id, gate, quarter, 0, 0, 0, first_entries, entries, exits
              FROM admission_tally) figures
     GROUP BY event_id, ticket_type_id, gate, quarter
    HAVING (sum(logged_first), sum(logged_in), sum(logged_out)) <> (sum(first_entries), sum(entries), sum(exits))"""
PLACES_UNLIKE_THE_LOG = """
    SELECT 'event ' || p.event_id || ', place ' || p.id || ': ' || CASE WHEN p.is_admitted THEN 'admitted' ELSE 'not admitted' END
           || ', and the log has ' || p.first_entries || ' first entries'
      FROM (SELECT t.event_id, t.id, t.admitted_at IS NOT NULL AS is_admitted, count(a.id) AS first_entries
              FROM ticket t
              LEFT JOIN admission a ON a.event_id = t.event_id AND a.place_id = t.id AND a.direction = 'in'
                   AND NOT a.is_reentry AND a.undone_at IS NULL
             GROUP BY t.event_id, t.id
            UNION ALL
            SELECT s.event_id, s.id, s.status = 'admitted', count(a.id)
              FROM allocation_slot s
              LEFT JOIN admission a ON a.event_id = s.event_id AND a.place_id = s.id AND a.direction = 'in'
                   AND NOT a.is_reentry AND a.undone_at IS NULL
             WHERE s.status <> 'admitted' OR EXISTS (
                   SELECT FROM allocation_slot_event e
                    WHERE e.slot_id = s.id AND e.event_id = s.event_id AND e.to_status = 'admitted'
                      AND e.transaction_id IS NOT NULL)
             GROUP BY s.event_id, s.id, s.status) p
     WHERE p.first_entries <> p.is_admitted::integer"""
"""Slots that were admitted before migration 0041 have no entry; their events have no transaction id."""
